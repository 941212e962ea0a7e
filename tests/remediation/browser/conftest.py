"""A headless Chromium, and one replica's pages for it to look at."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

from tests.remediation.replica import Replica

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PHONE, DESK = (390, 844), (1280, 900)


class Browser:
    """What a test asks of a browser; `folder` keeps the screenshots."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def show(self, url: str, *, size: tuple[int, int] = DESK, scheme: str = "light") -> None:
        """Open `url` at a width and in a colour scheme."""
        width, height = size
        self._tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=size == PHONE,
        )
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        self._tell("Emulation.setEmulatedMedia", features=wanted)
        self.driver.get(url)

    def ask(self, expression: str) -> Any:
        """Evaluate an expression on the page, from outside of it."""
        return _again(lambda: self.driver.execute_script(f"return {expression}"))

    def follow(self, link: str) -> None:
        """Click on a link of the page."""
        _again(lambda: self.driver.find_element("link text", link).click())

    def text(self) -> str:
        """What a person reads; nothing while the page is on its way."""
        return str(self.ask("document.body ? document.body.innerText : ''"))

    def fits(self) -> bool:
        """Whether nothing has to be scrolled sideways."""
        return bool(
            self.ask("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        )

    def contrast(self, selector: str) -> float:
        """The contrast of an element's text with the page, after WCAG 2.1."""
        colours = self.ask(
            f"[getComputedStyle(document.querySelector({selector!r})).color,"
            " getComputedStyle(document.body).backgroundColor]"
        )
        low, high = sorted(_luminance(colour) for colour in colours)
        return (high + 0.05) / (low + 0.05)

    def shoot(self, name: str) -> Path:
        """Keep what is seen."""
        path = self.folder / f"{name}.png"
        assert self.driver.save_screenshot(str(path))
        return path

    def _tell(self, command: str, **parameters: Any) -> None:
        self.driver.execute_cdp_cmd(command, parameters)


def _again(act: Callable[[], Any]) -> Any:
    """Do it on the page that comes, where the one that it was begun on reloaded itself.

    That is an error of one kind or another, by what was under way.
    """
    try:
        return act()
    except WebDriverException:
        return act()


def _luminance(colour: str) -> float:
    """Relative luminance of "rgb(r, g, b)"."""
    channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium without scripts; skips, visibly, where there is none."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("chromium and chromedriver not found: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{flag}")
    # The pages must do without; what the test itself evaluates is not the page's script.
    options.add_experimental_option(
        "prefs", {"profile.managed_default_content_settings.javascript": 2}
    )
    started = webdriver.Chrome(options=options, service=Service(driver))
    yield started
    started.quit()


@pytest.fixture
def browser(chromium: Any, tmp_path: Path) -> Browser:
    return Browser(chromium, tmp_path)


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[Replica]:
    with Replica(tmp_path) as made:
        yield made
