"""What a tool or a command can do, and the tool whose rules therefore apply to it.

A person who turns scripts off means every way to run one. So a tool declares its abilities, a
command has the ability that it needs, and a tool cannot send a command whose ability it has not
declared.
"""

from enum import Enum


class Ability(Enum):
    """The value is the name of the tool that stands for the ability in rules and conditions."""

    OPEN = "browser_open_tab"
    """Opens an address in a new tab or window."""
    NAVIGATE = "browser_navigate_tab"
    """Shows another address in a tab."""
    CLOSE = "browser_close_tab"
    """Closes tabs."""
    RUN_CODE = "browser_execute_script"
    """Runs code in a page, or decides what code the page loads."""
    CAPTURE = "browser_screenshot_tab"
    """Makes a picture of a page."""
    CHANGE_REQUESTS = "browser_intercept_requests"
    """Holds, answers or changes the requests of a page."""
    WRITE_FILES = "browser_download_file"
    """Writes files to the disk."""
