// Small maps listen for marks; one that is drawn later finds what was last told.
export function render({model}) {
  const tell = () => {
    const told = model.marks.map(([key, rings, lines]) => [key, {rings, lines}])
    document.wattfold_marks = {...document.wattfold_marks, ...Object.fromEntries(told)}
    document.dispatchEvent(new CustomEvent("wattfold:marks"))
  }
  model.on("marks", tell)
  tell()
  const nothing = document.createElement("span")
  nothing.hidden = true
  return nothing
}
