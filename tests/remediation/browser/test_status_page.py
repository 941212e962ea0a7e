"""The status page as people see it: without scripts, light and dark, on a desk and on a phone."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.remediation.browser import scenes
from tests.remediation.browser.conftest import DESK, PHONE
from tests.remediation.site import eventually

if TYPE_CHECKING:
    from tests.remediation.browser.conftest import Browser
    from tests.remediation.replica import Replica

pytestmark = pytest.mark.browser

SCENES = [scenes.nothing, scenes.one, scenes.many, scenes.hostile, scenes.a_working_day]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_fits_and_can_be_read(
    browser: Browser, replica: Replica, scene: Any, size: tuple[int, int], scheme: str
) -> None:
    scene(replica)
    browser.show(replica.url, size=size, scheme=scheme)
    assert browser.fits()
    assert browser.contrast("h1") >= 7
    assert browser.contrast(".soft") >= 4.5
    assert browser.contrast("a") >= 4.5
    dark = browser.ask("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark is (scheme == "dark")
    browser.shoot(f"{scene.__name__}-{size[0]}-{scheme}")


def test_nothing_to_tell_is_told(browser: Browser, replica: Replica) -> None:
    scenes.nothing(replica)
    browser.show(replica.url)
    assert "None: no node is suspect, marked or held" in browser.text()


def test_five_hundred_episodes_are_a_few_lines_and_every_node_is_there(
    browser: Browser, replica: Replica
) -> None:
    scenes.many(replica)
    began = time.monotonic()
    browser.show(replica.url)
    assert time.monotonic() - began < 5
    assert "Deferred · 498" in browser.text()
    assert "and 497 more" in browser.text()
    assert "gpu-0499" in browser.ask("document.body.textContent")
    rows = browser.ask("document.querySelectorAll('tr').length")
    assert rows < 40


def test_hostile_text_is_text(browser: Browser, replica: Replica) -> None:
    scenes.hostile(replica)
    browser.show(replica.url)
    assert browser.ask("document.querySelectorAll('script, img').length") == 0
    assert browser.driver.title == "Forewarn remediation"
    assert "<img src=x onerror=alert(1)>" in browser.text()


def test_the_page_reloads_itself(browser: Browser, replica: Replica) -> None:
    scenes.nothing(replica)
    browser.show(replica.url)
    scenes.one(replica)
    eventually(lambda: "n1 is cordoned and tainted" in browser.text(), seconds=12)


def test_somebody_with_nothing_but_a_browser_pauses_everything(
    browser: Browser, replica: Replica
) -> None:
    scenes.one(replica)
    browser.show(replica.url, size=PHONE)
    browser.follow("Pause")
    assert browser.fits()
    browser.shoot("pause-390-light")
    for name, text in (("author", "ann"), ("reason", "storage work"), ("token", "wrong")):
        browser.driver.find_element("id", name).send_keys(text)
    browser.driver.find_element("tag name", "button").click()
    eventually(lambda: "That is not the operator's token" in browser.text())
    assert replica.face.ledger.ledger.pause is None
    browser.driver.find_element("id", "token").send_keys("let-me-in")
    browser.driver.find_element("tag name", "button").click()
    eventually(lambda: browser.driver.current_url == f"{replica.url}/")
    pause = replica.face.ledger.ledger.pause
    assert pause is not None
    assert (pause.author, pause.reason) == ("ann", "storage work")


def test_a_paused_page_says_by_whom_and_offers_to_resume(
    browser: Browser, replica: Replica
) -> None:
    scenes.hostile(replica)
    browser.show(replica.url)
    assert browser.ask("document.querySelector('.button').innerText") == "Resume"
    assert "Nodes still come back." in browser.text()


def test_the_way_through_the_page_is_possible_by_keyboard(
    browser: Browser, replica: Replica
) -> None:
    scenes.one(replica)
    browser.show(f"{replica.url}/order/hold/n1")
    labels = browser.ask("[...document.querySelectorAll('label')].map(l => l.htmlFor)")
    assert labels == browser.ask("[...document.querySelectorAll('input')].map(i => i.id)")
    browser.driver.find_element("id", "author").send_keys("ann\tmine\tlet-me-in\n")
    eventually(lambda: "n1" in replica.face.ledger.ledger.holds)
