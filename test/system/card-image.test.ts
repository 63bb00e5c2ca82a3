/** The script of a card's first start, with the files that people put on it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'

const SCRIPT = join(import.meta.dirname, '../../deploy/card-image/first-boot')

let folder: string
let card: string
let settings: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-card-'))
  card = join(folder, 'hedgerow.txt')
  settings = join(folder, 'gateway.env')
})

const start = () => spawnSync('sh', [SCRIPT, card, settings], { encoding: 'utf8' })
const CARD = 'GATEWAY_HUB_URL=https://hub.example.net:8443\nGATEWAY_INVITATION_CODE=ABCD-EFGH\n'
/** As the shell and systemd read it: a value within double quotes. */
const valueOf = (name: string) =>
  execFileSync('sh', ['-c', `. "${settings}"; printf %s "$${name}"`], { encoding: 'utf8' })

it('gives the gateway what the file says, and deletes the file with the code', () => {
  writeFileSync(settings, '#GATEWAY_NAME="North orchard"\nGATEWAY_HUB_URL="http://old:8080"\nGATEWAY_PORT="9000"\n')
  writeFileSync(card, `${CARD}GATEWAY_NAME=Rosa's "barn" $(reboot) \`x\` \\end\n`)
  expect(start()).toMatchObject({ status: 0, stderr: '' })
  expect(valueOf('GATEWAY_HUB_URL')).toBe('https://hub.example.net:8443')
  expect(valueOf('GATEWAY_INVITATION_CODE')).toBe('ABCD-EFGH')
  expect(valueOf('GATEWAY_NAME')).toBe(`Rosa's "barn" $(reboot) \`x\` \\end`)
  expect(valueOf('GATEWAY_PORT')).toBe('9000')
  expect(readFileSync(settings, 'utf8')).toContain('#GATEWAY_NAME="North orchard"')
  expect(statSync(settings).mode & 0o077).toBe(0)
  expect(readdirSync(folder)).toEqual(['gateway.env'])
  expect(start().status, 'at the next start').toBe(0)
})

it('reads a file that an editor of Windows wrote', () => {
  writeFileSync(card, `\uFEFF# from the hub\r\n\r\n${CARD.replaceAll('\n', '\r\n')}GATEWAY_LOCATION=Hill farm`)
  expect(start().status).toBe(0)
  expect(valueOf('GATEWAY_HUB_URL')).toBe('https://hub.example.net:8443')
  expect(valueOf('GATEWAY_LOCATION')).toBe('Hill farm')
})

it.each([
  [`${CARD}GATEWAY_UI_ON_LAN=on\n`, 'line 3 sets something else'],
  [`${CARD}LD_PRELOAD=/tmp/x.so\n`, 'line 3 sets something else'],
  [`${CARD}GATEWAY_NAME\n`, 'line 3 is not NAME=value'],
  [`${CARD}GATEWAY_NAME=a\u0007b\n`, 'line 3 has a control character'],
  [`${CARD}GATEWAY_NAME=${'x'.repeat(10_001)}\n`, 'it is longer than'],
])('refuses a file with anything else, changes nothing and says why on the card: %#', (text, words) => {
  writeFileSync(settings, 'GATEWAY_PORT="9000"\n')
  writeFileSync(card, text)
  expect(start().status).toBe(1)
  expect(readFileSync(join(folder, 'hedgerow-error.txt'), 'utf8')).toContain(`hedgerow.txt was not used: ${words}`)
  expect(readFileSync(settings, 'utf8')).toBe('GATEWAY_PORT="9000"\n')
  expect(readFileSync(card, 'utf8')).toBe(text)
  writeFileSync(card, CARD)
  expect(start().status, 'once it is mended').toBe(0)
  expect(existsSync(join(folder, 'hedgerow-error.txt'))).toBe(false)
})
