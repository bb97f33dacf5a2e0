"""Speed and memory as ratios against PyTorch, measured in one run."""
