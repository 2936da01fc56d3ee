const PLACE = `display: flex; flex-direction: column; align-items: center; gap: 6px; padding: 26px 12px;
  border: 2px dashed color-mix(in srgb, currentColor 35%, transparent); border-radius: 8px;
  text-align: center; font-size: 0.85rem; line-height: 1.4; cursor: pointer; width: 100%;
  box-sizing: border-box; background: transparent; color: inherit; font-family: inherit`
const BAR = "width: 100%; height: 4px; border-radius: 2px; background: #1976d2; transform-origin: left"

export function render({model}) {
  const place = document.createElement("button")
  place.type = "button"
  place.style.cssText = PLACE
  const text = document.createElement("span")
  const bar = document.createElement("div")
  bar.style.cssText = BAR
  const input = document.createElement("input")
  input.type = "file"
  input.hidden = true
  let file = null

  const draw = () => {
    const busy = model.wanted >= 0 && file
    text.textContent = busy ? `Receiving ${file.name}` : model.text
    bar.style.visibility = busy ? "visible" : "hidden"
    bar.style.transform = `scaleX(${busy ? model.wanted / (file.size || 1) : 0})`
    input.accept = model.accept
  }
  const send = (chosen) => {
    if (chosen) {
      file = chosen
      model.send_msg({name: file.name})
    }
  }
  const sendPiece = async () => {
    draw()
    if (model.wanted >= 0 && file) {
      const piece = file.slice(model.wanted, model.wanted + model.piece)
      model.send_msg({data: await piece.arrayBuffer()})
    }
  }
  place.onclick = () => input.click()
  input.onchange = () => {
    send(input.files[0])
    input.value = ""
  }
  place.ondragover = (event) => event.preventDefault()
  place.ondrop = (event) => {
    event.preventDefault()
    send(event.dataTransfer.files[0])
  }
  model.on("wanted", sendPiece)
  model.on("text", draw)
  draw()
  place.append(text, bar)
  const box = document.createElement("div")
  box.style.width = "100%"
  box.append(place, input)
  return box
}
