"""As long as the project has no address, no page links to it: the notebook itself is offered instead.

`_config.yml` names ``github.com/example`` until `tools/spread_address.py` writes another address everywhere.
A link to a repository that does not exist would lead every reader to an error.
"""

from __future__ import annotations

PLACEHOLDER = "https://github.com/example/"
# what the theme makes of the address: its icon, "open an issue", "suggest an edit", and Colab and Binder
OF_THE_ADDRESS = ("repository_url", "launch_buttons")
BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button", "use_source_button")


def leave_out_placeholder(app, config) -> None:
    """Take all that links to the repository from the theme's options, if its address is the placeholder."""
    options = config.html_theme_options
    if options.get("repository_url", "").startswith(PLACEHOLDER):
        for name in OF_THE_ADDRESS:
            options.pop(name, None)
        options.update(dict.fromkeys(BUTTONS, False))
