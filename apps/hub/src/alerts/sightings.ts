/** What the incidents of an alert are, where: for its title, its cool-down and the part that a person may see. Pure. */
import type { AlertRuleFields } from '@hedgerow/contract'

type Seen = { gatewayId: string; gatewayName: string; site?: string; camera: string; label: string }
/** How many, by `keyOf` of their lines. */
export type Sightings = Readonly<Record<string, number>>
export type Sighting = { gatewayId: string; place: string; label: string; count: number }

/** Above this number of kinds, the others of a gateway are counted together. */
const KEYS_MAX = 300
/** Then a rule's messages wait for its cool-down, whatever is new in them. */
const MESSAGES_AT_ONCE = 3

/** The site, or the gateway where it has none. */
export function keyOf({ gatewayId, gatewayName, site = '', camera, label }: Seen): string {
  return JSON.stringify([gatewayId, site || gatewayName, camera, label])
}

export function addSighting(sightings: Record<string, number>, line: Seen): void {
  const own = keyOf(line)
  const isKnown = own in sightings || Object.keys(sightings).length < KEYS_MAX
  const key = isKnown ? own : keyOf({ ...line, camera: '', label: '' })
  sightings[key] = (sightings[key] ?? 0) + 1
}

export function sightingsIn(json: string | null): Sighting[] {
  return Object.entries(JSON.parse(json ?? '{}') as Sightings).map(([key, count]) => {
    const [gatewayId = '', place = '', , label = ''] = JSON.parse(key) as string[]
    return { gatewayId, place, label, count }
  })
}

/** A message that was sent, or is due. `keys` is undefined where nobody stored them: then it holds everything back. */
export type Sent = { dueAt: number; keys: ReadonlySet<string> | undefined }

/**
 * When a message with these keys is due: soon when one of them, a label on a camera, was in no message of the rule's
 * cool-down, so that a person never waits for a deer.
 */
export function dueAtOf(
  { at, keys }: { at: number; keys: readonly string[] },
  sent: readonly Sent[],
  { collectSeconds, coolDownSeconds }: Pick<AlertRuleFields, 'collectSeconds' | 'coolDownSeconds'>,
): number {
  const coolMs = coolDownSeconds * 1_000
  const cooling = sent.filter(({ dueAt }) => dueAt + coolMs > at).toSorted((a, b) => a.dueAt - b.dueAt)
  const endOf = (key: string) =>
    Math.max(0, ...cooling.flatMap(({ dueAt, keys }) => ((keys?.has(key) ?? true) ? [dueAt + coolMs] : [])))
  const first = cooling.length < MESSAGES_AT_ONCE ? 0 : cooling.at(-MESSAGES_AT_ONCE)!.dueAt + coolMs
  return Math.max(at + collectSeconds * 1_000, first, Math.min(...keys.map(endOf)))
}
