// Writes words where screen readers hear of them.
//
// Runs whenever its element changes. The region stays in the page, because screen readers read only changes in it.
{
  let region = document.querySelector("body > [role=status]");
  if (!region) {
    region = document.createElement("div");
    region.setAttribute("role", "status");
    region.className = "announced";
    document.body.append(region);
  }
  region.textContent = document.querySelector("[data-announced]").dataset.announced;
}
