/**
 * Posts the ticket to the gateway's origin, which leaves this page. First the page's history entry becomes the gateway
 * list, so that Back from the gateway does not hand over again.
 */
export function handOver({ action, ticket }: { action: string; ticket: string }, path: string | null): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = action
  form.hidden = true
  const fields = { ticket, ...(path !== null && isLocalPath(path) ? { path } : {}) }
  for (const [name, value] of Object.entries(fields)) {
    const field = document.createElement('input')
    field.type = 'hidden'
    field.name = name
    field.value = value
    form.append(field)
  }
  document.body.append(form)
  window.history.replaceState(window.history.state, '', '/gateways')
  // A page that the browser restores on Back still shows the hand-over, at the list's address.
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload()
  })
  form.submit()
}

/** A path on the gateway itself: no scheme, no other host. */
function isLocalPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path)
}
