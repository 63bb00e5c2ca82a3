/** What the card of a channel says. Pure. */
import type { readNotificationChannels, ResponseOf, sendTestNotification } from '@hedgerow/contract'

/** The channels that work for each person without any setup in the hub. */
export const OWN: Readonly<Record<string, string>> = {
  portal: 'The bell of the portal',
  push: 'Browsers that people add in their profile',
}

type About = {
  isSet: boolean
  problem: string | undefined
  last: ResponseOf<typeof readNotificationChannels>['last'][string] | undefined
  /** The result of the test that was sent from this page. */
  tested: ResponseOf<typeof sendTestNotification>['channels'][string] | undefined
}
type State = { shape: 'neutral' | 'diamond' | 'dot'; reason: string; failure: string | undefined }

/** `failure` is why the last attempt failed. A test is an attempt too, so that a later one replaces its failure. */
export function stateOf(name: string, { isSet, problem, last, tested }: About): State {
  if (!isSet) return { shape: 'neutral', reason: OWN[name] ?? 'Not set up', failure: undefined }
  const failure = last?.error ?? undefined
  const taken = tested?.status === 'sent' ? tested.message : undefined
  return {
    shape: (problem ?? failure) === undefined ? 'dot' : 'diamond',
    reason: problem ?? failure ?? taken ?? OWN[name] ?? 'Set up',
    failure,
  }
}
