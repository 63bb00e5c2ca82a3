/** What people have at a place, and the shortest way to a gateway on each. Pure. */
import { shellWord } from '@hedgerow/contract'

export const KINDS = {
  pi: { name: 'Raspberry Pi', about: 'A command, or a card that joins by itself.' },
  pc: { name: 'Mini PC', about: 'Debian or Ubuntu. A command.' },
  windows: { name: 'Windows PC', about: 'A command in the Linux of Windows.' },
  container: { name: 'Container', about: 'Podman or Docker.' },
  frigate: { name: 'Frigate runs already', about: 'A command on its machine.' },
  wireguard: { name: 'Only WireGuard', about: 'A router or another device.' },
} as const
export type Kind = keyof typeof KINDS

/** An invitation with its code, for one device or for several. */
export type Card = {
  command: string
  code: string
  hubUrl: string
  hubFingerprint: string
  /** Of one device. */
  name?: string
  location?: string
}

/** The invitation's line with the name and the location of one device. */
export function deviceCommand({ command, name = '', location = '' }: Card): string {
  const given = { name, location }
  return Object.entries(given).reduce(
    (line, [option, value]) => (value === '' ? line : `${line} --${option} ${shellWord(value)}`),
    command,
  )
}

const variables = ({ hubUrl, hubFingerprint, code, name = '', location = '' }: Card) =>
  Object.entries({
    GATEWAY_HUB_URL: hubUrl,
    GATEWAY_HUB_FINGERPRINT: hubFingerprint.replaceAll(' ', '-'),
    GATEWAY_INVITATION_CODE: code,
    GATEWAY_NAME: name,
    GATEWAY_LOCATION: location,
  }).filter(([, value]) => value !== '')

/** Starts the agent's image of this version. */
export function containerCommand(card: Card, version: string): string {
  const settings = variables(card).map(([name, value]) => `--env ${shellWord(`${name}=${value}`)}`)
  return [
    'podman run --detach --name gateway --restart always --network host',
    '--read-only --read-only-tmpfs=false --cap-drop all --volume hedgerow-gateway:/data',
    ...settings,
    `localhost/hedgerow-gateway:${version}`,
  ].join(' ')
}

/** The file that a card of the card image reads at its first start. */
export const CARD_FILE = 'hedgerow.txt'
export const cardFile = (card: Card): string =>
  variables(card)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

/** A line in several, which a shell also accepts, so that none breaks in the middle of a code. */
export const inLines = (command: string): string =>
  command.replaceAll(
    / (?=GATEWAY_|npm |https?:|sh -s |localhost\/|--(?:invitation|name|location|env|volume|network|cap-drop) )/g,
    ' \\\n',
  )
