import type { DeviceUpdates } from './agent-updates.ts'

/** The updates of a device in words: titles and sentences, in the order in which people ask. */
export function updateLines(updates: DeviceUpdates, timeInWords: (at: string) => string): [string, string][] {
  const { by, advice, since, startedAt, checkedAt, offered, failure, state } = updates
  const lines: [string, string][] = [
    since === null ? ['Started', timeInWords(startedAt)] : ['Runs since', timeInWords(since)],
  ]
  if (by === 'itself' && advice === '') {
    lines.push(['Update', stateInWords(updates)])
    if (offered !== null) lines.push(['Asked for by', offered.byHand ? 'a person' : 'the automatic updates of the hub'])
    lines.push(['Automatic updates', automaticInWords(updates)])
    lines.push(['Last check', checkedAt === null ? 'none since the start' : timeInWords(checkedAt)])
  } else lines.push(['Update', advice])
  // Otherwise the state says it.
  if (failure !== null && state !== 'failed')
    lines.push(['Last failure', `${timeInWords(failure.at)}: ${nameOf(failure)} failed. ${failure.message}`])
  return lines
}

function stateInWords({ state, message, offered, checkedAt }: DeviceUpdates): string {
  const name = offered === null ? 'the new version' : nameOf(offered)
  const states: Record<DeviceUpdates['state'], string> = {
    current:
      checkedAt === null ? 'The hub has not said yet which version it wants.' : 'The hub asks for no other version.',
    waiting: `The hub offers ${name}. It waits: ${message}`,
    fetching: `The gateway fetches ${name}${message === '' ? '' : ` (${message})`}, then starts it on trial.`,
    trying: (
      'This version is on trial: the previous one returns if it restarts, or the hub and all that worked before ' +
      `do not answer. ${message}`
    ).trim(),
    failed: `${capital(name)} failed, and this version runs on. ${message}`,
  }
  return states[state]
}

function automaticInWords({ isEnabled, hours }: DeviceUpdates): string {
  if (!isEnabled) return 'refused by gateway.yaml, as are those that a person asks for'
  return hours.length === 0 ? 'at any time' : `${hours.join(', ')}, by this device’s clock`
}

const nameOf = ({ number, version }: { number: number; version: string | null }) =>
  version === null ? `release ${number}` : `version ${version}`

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
