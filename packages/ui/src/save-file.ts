/** Lets the browser save `content` under `name`, as a download. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Some browsers start the download a moment later.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
