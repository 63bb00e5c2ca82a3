/**
 * The service worker of the portal: a notice while the hub cannot be reached, and push messages. It stores two files of
 * the hub and nothing else: no page, no answer of the API, no picture, and nothing from a gateway, whose pages have
 * origins of their own. Screens always come from the hub, so that an update of the hub needs no update of this.
 */
const SHELL = 'hub-shell-1'
const SHELL_FILES = ['/icon.svg', '/icon-192.png']

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(SHELL)
      .then((cache) => cache.addAll(SHELL_FILES))
      .then(() => self.skipWaiting()),
  )
})

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  )
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || url.origin !== self.location.origin) return
  if (request.mode === 'navigate') event.respondWith(fetch(request).catch(offlinePage))
  else if (SHELL_FILES.includes(url.pathname) && url.search === '')
    event.respondWith(fetch(request).catch(() => caches.match(url.pathname)))
})

self.addEventListener('push', (event) => {
  event.waitUntil(show(event.data ? event.data.json() : {}))
})

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event
  notification.close()
  const { url, acknowledge } = notification.data ?? {}
  event.waitUntil(action === 'acknowledge' && acknowledge ? acknowledgeOr(acknowledge, openPage) : openPage(url))
})

async function show({ title, text, url, acknowledge, tag, unread, words, pictureUrl }) {
  if (unread !== undefined && self.navigator.setAppBadge) await self.navigator.setAppBadge(unread).catch(() => {})
  await self.registration.showNotification(title ?? 'Your hub', {
    body: text,
    icon: '/icon-192.png',
    badge: '/icon-192.png',
    ...(tag && { tag, renotify: true }),
    ...(pictureUrl && { image: ownPath(pictureUrl) }),
    ...(acknowledge && words
      ? {
          actions: [
            { action: 'acknowledge', title: words.acknowledge },
            { action: 'open', title: words.open },
          ],
        }
      : {}),
    data: { url, acknowledge },
  })
}

async function acknowledgeOr({ token, call, page }, open) {
  try {
    const answer = await fetch(ownPath(call), {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    if (!answer.ok) throw new Error(`the hub answered ${answer.status}`)
  } catch {
    await open(page)
  }
}

async function openPage(address) {
  const path = ownPath(address ?? '/dashboard')
  const windows = await self.clients.matchAll({ type: 'window' })
  const open = windows.find((client) => new URL(client.url).origin === self.location.origin)
  if (!open) return self.clients.openWindow(path)
  // A browser that refuses the focus shows the page all the same.
  await open.focus().catch(() => {})
  return open.navigate(path)
}

/** Links of the hub hold its public address; this browser may use another one. */
function ownPath(address) {
  const { pathname, search, hash } = new URL(address, self.location.origin)
  return pathname + search + hash
}

/** The page reloads every five seconds. */
function offlinePage() {
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>No connection · Hub</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="5">
<link rel="icon" href="/icon.svg"><style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { display: grid; place-content: center; justify-items: start; gap: 12px; min-height: 90vh; max-width: 26rem;
  margin: auto; padding: 0 20px }
img { width: 48px; height: 48px } h1 { margin: 0; font-size: 24px } p { margin: 0 }
</style></head><body><img src="/icon.svg" alt=""><h1>The hub does not answer</h1>
<p>This device is offline, or the hub is. This page tries again by itself.</p></body></html>`
  return new Response(page, {
    status: 503,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; base-uri 'none'",
    },
  })
}
