"""What `tabhub setup` says about loading the extension."""

from tabhub.cli.setup.extension import ExtensionFolder, instructions


def test_each_step_is_a_line_and_the_picture_has_the_numbers_of_its_steps() -> None:
    lines = [*instructions(ExtensionFolder("/home/you/ext"), is_copied=True)]
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["1.", "2.", "3.", "4."]
    assert "/home/you/ext" in "\n".join(lines) and "on your clipboard" in "\n".join(lines)
    for number, what in (("2", "Developer mode"), ("3", "Load unpacked")):
        (drawn,) = [line for line in lines if line.endswith(f"<- {number}")]
        (step,) = [line for line in lines if line.startswith(f"{number}.")]
        assert what in drawn and what in step
    assert all(line.isascii() and len(line) <= 76 for line in lines)


def test_nothing_is_said_to_be_copied_that_was_not() -> None:
    lines = "\n".join(instructions(ExtensionFolder("/home/you/ext"), is_copied=False))
    assert "clipboard" not in lines
    assert "Copy it from here." in lines and "paste or type it" in lines
