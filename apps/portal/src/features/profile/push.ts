/** Push messages in this browser: the reason why they cannot work, and the subscription. */
import { bodyOf } from '#api/browser-push.ts'
import { SERVICE_WORKER } from '#api/service-worker.ts'

/** The reason why this browser cannot show push messages, in words; undefined when it can. */
export function missingForPush(): string | undefined {
  if (!window.isSecureContext)
    return 'Push messages need https: open the hub at its https address, see docs/operations/tls.md.'
  if (!('serviceWorker' in navigator))
    return 'This browser does not support service workers, for example in a private window.'
  if (!('PushManager' in window)) {
    return /iPhone|iPad/.test(navigator.userAgent)
      ? 'On an iPhone or iPad first add the hub to the home screen (Share, Add to Home Screen) and open it there.'
      : 'This browser does not support push messages.'
  }
  if (Notification.permission === 'denied')
    return 'Notifications of this page are blocked: allow them in the settings of the browser.'
  return undefined
}

/** Asks the person, then the browser's push service. Throws an error with the reason, in words. */
export async function subscribeBrowser(publicKey: string): Promise<ReturnType<typeof bodyOf>> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('This browser does not allow notifications of the hub.')
  const registration = await navigator.serviceWorker
    .register(SERVICE_WORKER, { scope: '/' })
    .catch((cause: unknown) => {
      if (!(cause instanceof DOMException) || cause.name !== 'SecurityError') throw cause
      // Whoever went on in spite of the browser's warning has https and no service worker.
      throw new Error(
        'This browser does not trust the hub’s certificate, so it gets no push messages: see docs/operations/tls.md.',
        { cause },
      )
    })
  await navigator.serviceWorker.ready
  const existing = await registration.pushManager.getSubscription()
  // A subscription of another hub, or with an old key, would refuse this hub's messages.
  await existing?.unsubscribe()
  const subscription = await registration.pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
    .catch((cause: unknown) => {
      throw new Error('The browser’s push service refused: it may be out of reach, or this is a private window.', {
        cause,
      })
    })
  return bodyOf(subscription)
}
