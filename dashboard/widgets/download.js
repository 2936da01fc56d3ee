export function render({model}) {
  let name = ""
  let pieces = []
  model.on("msg:custom", (event) => {
    const message = event.data ?? event
    if (message.name !== name) {
      name = message.name
      pieces = []
    }
    if (!name) {
      return
    }
    pieces.push(Uint8Array.from(atob(message.piece), (character) => character.charCodeAt(0)))
    if (message.last) {
      // Saved as bytes and never opened here, whatever it is.
      const url = URL.createObjectURL(new Blob(pieces, {type: "application/octet-stream"}))
      const link = document.createElement("a")
      link.href = url
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(url), 60_000)
      name = ""
      pieces = []
    } else {
      model.send_msg("next")
    }
  })
  return document.createElement("div")
}
