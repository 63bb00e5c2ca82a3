/** What channels add to a message, in its language. */
import type { Language } from '@hedgerow/contract'

type Words = {
  acknowledge: string
  acknowledgeInBrowser: string
  open: string
  openInHub: string
  test: string
  /** In a message to a shared channel, and to one's own browser. */
  sharedTest: string
  browserTest: string
  /** The subject of a mail with several messages. */
  several(count: number): string
}

export const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    acknowledge: 'Acknowledge',
    acknowledgeInBrowser: 'Acknowledge in the browser',
    open: 'Open',
    openInHub: 'Open in the hub',
    test: 'Test message from your hub',
    sharedTest: 'Somebody asked the hub to send this message. Nothing needs to be done.',
    browserTest: 'This browser shows the alerts of your hub.',
    several: (count) => `${count} messages from your hub`,
  },
  de: {
    acknowledge: 'Bestätigen',
    acknowledgeInBrowser: 'Im Browser bestätigen',
    open: 'Öffnen',
    openInHub: 'Im Hub öffnen',
    test: 'Testnachricht Ihres Hubs',
    sharedTest: 'Jemand hat den Hub gebeten, diese Nachricht zu senden. Es ist nichts zu tun.',
    browserTest: 'Dieser Browser zeigt die Alarme Ihres Hubs.',
    several: (count) => `${count} Nachrichten Ihres Hubs`,
  },
}
