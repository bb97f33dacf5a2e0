"""What every drawing is made of: colours and sizes, schematic drawings, names of lines, ticks, showing."""
