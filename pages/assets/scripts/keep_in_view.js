// Scrolls to the question that a conversation is opened at, or that was just asked, and gives its field the focus back.
//
// Runs whenever its element changes or is added again. A page grows for about two seconds while it is drawn, and during
// a run. The script scrolls back to the question until someone uses the page. The focus goes back only if it is
// nowhere: it would end a selection, and on a telephone open the keyboard over the answer.
if (!window.keepInView) {
  let hold = 0, seen = {}, place = "";
  for (const each of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(each, () => { hold++; }, { capture: true, passive: true });
  const giveBackFocus = async () => {
    for (let looks = 0; looks < 20 && document.activeElement === document.body; looks++) {
      document.querySelector("[data-testid=stChatInputTextArea]:enabled")?.focus({ preventScroll: true });
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  };
  const questions = () => [...document.querySelectorAll(".question")];
  const above = row => row && questions().findLast(each => each.compareDocumentPosition(row) & 4);
  addEventListener("click", event => {
    const pressed = above(event.target.closest("[class*=st-key-sign-before-], [class*=st-key-sign-after-]"));
    place = pressed ? `${pressed.getBoundingClientRect().top}px` : "";
  }, { capture: true });
  const look = () => {
    const marker = document.querySelector("[data-conversation]");
    return { ...marker?.dataset, page: marker?.closest("[data-testid=stHtml]") };
  };
  window.keepInView = async () => {
    const now = look(), isOpened = now.page !== seen.page || now.conversation !== seen.conversation;
    const isAsked = now.running && now.running !== seen.running;
    const isChosen = now.sought && now.sought !== seen.sought;
    const isFree = matchMedia("(pointer: fine)").matches && getSelection().isCollapsed;
    if (seen.running && !now.running && isFree) giveBackFocus();
    seen = now;
    if (!isOpened && !isAsked && !isChosen) return;
    const margin = isOpened || isAsked ? "" : place;
    place = "";
    const target = () => {
      if (!now.conversation) return document.querySelector("[data-testid=stMainBlockContainer]");
      const sought = now.sought && !isAsked && document.querySelector(`.st-key-question-${now.sought}`);
      return above(sought) || questions().at(-1);
    };
    const mine = ++hold;
    for (let looks = 0; hold === mine && (looks < 10 || now.running && look().running === now.running); looks++) {
      const question = target();
      if (question) {
        const beyond = now.conversation ? question.offsetHeight - innerHeight / 3 : 0;
        question.style.scrollMarginTop = margin || (beyond > 0 ? `${-beyond}px` : "");
        question.scrollIntoView();
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  };
}
keepInView();
