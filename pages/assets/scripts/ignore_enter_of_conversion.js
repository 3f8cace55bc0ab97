// The Enter that ends the conversion of Japanese text is no act of a person.
//
// Streamlit's fields ask only whether a text is being converted (`isComposing`). Safari ends the conversion before it
// tells of the Enter that ended it, and the field would send a question that is half written. The code of that key,
// 229, still says what it was for. No field needs to hear of it.
if (!window.ignoresEnterOfConversion) {
  window.ignoresEnterOfConversion = true;
  document.addEventListener("keydown", event => {
    if (event.key === "Enter" && event.keyCode === 229) event.stopPropagation();
  }, { capture: true });
}
