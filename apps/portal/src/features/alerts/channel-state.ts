/** What the card of a channel says, and what its form sends. Pure. */
import type {
  BodyOf,
  ChannelSetup,
  editChannelSetup,
  readNotificationChannels,
  ResponseOf,
  sendTestNotification,
} from '@hedgerow/contract'

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
  /** It has settings, though it is off. */
  isKept?: boolean
}
type State = { shape: 'neutral' | 'diamond' | 'dot'; reason: string; failure: string | undefined }

/** `failure` is why the last attempt failed. A test is an attempt too, so that a later one replaces its failure. */
export function stateOf(name: string, { isSet, problem, last, tested, isKept = false }: About): State {
  if (!isSet) return { shape: 'neutral', reason: OWN[name] ?? (isKept ? 'Off' : 'Not set up'), failure: undefined }
  const failure = last?.error ?? undefined
  const taken = tested?.status === 'sent' ? tested.message : undefined
  return {
    shape: (problem ?? failure) === undefined ? 'dot' : 'diamond',
    reason: problem ?? failure ?? taken ?? OWN[name] ?? 'Set up',
    failure,
  }
}

/** Every field has a text; those of secrets are what a person types. `removed` has the secrets to remove. */
export type ChannelValues = { enabled: boolean; values: Record<string, string>; removed: Record<string, boolean> }

/** Whether something of it is set; its first field may be the variable's. */
export const isSetUp = ({ fields }: ChannelSetup): boolean =>
  fields.some(({ isSet, isByVariable }) => isSet && !isByVariable)

export const channelValues = (setup: ChannelSetup): ChannelValues => ({
  // Whoever sets it up wants to use it.
  enabled: setup.enabled || !isSetUp(setup),
  values: Object.fromEntries(setup.fields.map(({ name, value }) => [name, value ?? ''])),
  removed: {},
})

/** What differs from the hub's, and the values that the person saw. */
export function channelChange(
  { enabled: was, fields }: ChannelSetup,
  { enabled, values, removed }: ChannelValues,
): BodyOf<typeof editChannelSetup> {
  const changed = fields.filter(({ name, isByVariable, value }) => !isByVariable && values[name] !== (value ?? ''))
  const gone = fields.filter(({ name }) => removed[name] === true)
  const seen = changed.filter(({ kind }) => kind !== 'secret')
  return {
    ...(enabled !== was && { enabled }),
    values: Object.fromEntries([
      ...changed.map(({ name }) => [name, values[name] ?? null] as const),
      ...gone.map(({ name }) => [name, null] as const),
    ]),
    seen: {
      ...(enabled !== was && { enabled: was }),
      values: Object.fromEntries(seen.map(({ name, value }) => [name, value])),
    },
  }
}
