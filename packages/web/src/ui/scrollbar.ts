/**
 * How wide a scroll bar is here, as a length for the style sheets: what stands beside a list that keeps room for one lines up with it.
 */
export function measureScrollbar(): void {
  const box = document.createElement("div");
  box.className = "scrollbar-measure";
  document.body.append(box);
  const px = box.offsetWidth - box.clientWidth;
  box.remove();
  document.documentElement.style.setProperty("--scrollbar", `${px}px`);
}
