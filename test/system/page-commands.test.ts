import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGatewayInvitation, listGateways, login, editAutoApprovalSettings } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChild } from '../harness/child-process.ts'
import { copyRoot } from '../harness/copied-root.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { SEARCH_PATH, skipWithout } from '../harness/privileges.ts'

/** Lines of the pages for people who install and operate that belong to no larger test. */
const ROOT = join(import.meta.dirname, '../..')

/** The lines of a page that begin so. */
function linesOf(page: string, beginning: string): string[] {
  const text = readFileSync(join(ROOT, 'docs/operations', page), 'utf8')
  const lines = text.split('\n').map((line) => line.trim().replace(/ {2,}#.*$/, ''))
  const found = lines.filter((line) => line.startsWith(beginning))
  expect(found, `${page}: ${beginning}`).not.toEqual([])
  return found
}

describe('with a hub', () => {
  let hub: Hub
  let httpsPort: number
  beforeAll(async () => {
    httpsPort = await freeTcpPort()
    hub = await startHub({ env: { HUB_HTTPS_PORT: String(httpsPort) } })
  })
  afterAll(() => hub?.stop())

  it('simulated gateways join with the line of the page', async () => {
    const before = await hub.api(listGateways)
    const { code } = await hub.api(createGatewayInvitation, { body: { label: 'fleet', maxUses: 10 } })
    await hub.api(editAutoApprovalSettings, { body: { enabled: true } })
    const line = linesOf('sizing.md', 'npm run fleet')[0]!
      .replace(/http:\S+/, hub.url)
      .replace('--gateways 1000', '--gateways 3')
      .replace('CODE', code)
    const fleet = await startChild('sh', ['-c', `cd '${ROOT}' && exec ${line}`])
    onTestFinished(() => fleet.stop().then(() => undefined))
    await fleet.says(/3 in their tunnels/, 120_000)
    expect(await hub.api(listGateways)).toHaveLength(before.length + 3)
  })

  const noTools = skipWithout('the line that fetches the CA', 'command curl', 'command jq')
  it.skipIf(noTools)('the CA is fetched with the line of the page', async () => {
    const answer = await hub.visitor(login, { body: hub.admin })
    if ('challenge' in answer) throw new Error('The first admin has no two-factor.')
    const line = linesOf('tls.md', 'curl -k')[0]!.replace('hub.example.net:8443', `localhost:${httpsPort}`)
    const pem = execFileSync('sh', ['-ec', line.replace(/ > \S+$/, '')], {
      env: { ...process.env, TOKEN: answer.accessToken },
    })
    expect(new X509Certificate(pem).ca).toBe(true)
  })
})

const noSpace = skipWithout('lines that change the network', 'root', 'command unshare', 'command ip', 'command nft')
describe.skipIf(noSpace)('in a network of its own', () => {
  const run = (...lines: string[]) =>
    execFileSync('unshare', ['--net', 'sh', '-ec', lines.join('\n')], {
      encoding: 'utf8',
      env: { ...process.env, PATH: SEARCH_PATH },
    })

  it('a whole network is this machine’s', () => {
    const [line] = linesOf('sizing.md', 'ip route add local')
    expect(run('ip link set lo up', line!, 'ip route get 198.19.7.7')).toMatch(/^local 198\.19\.7\.7 dev lo/)
  })

  it('nftables lets in what must reach the hub', () => {
    const chain = `nft add chain inet filter input '{ type filter hook input priority 0; policy drop; }'`
    const rules = run('nft add table inet filter', chain, ...linesOf('install.md', 'nft add rule'), 'nft list ruleset')
    expect(rules).toMatch(/tcp dport { 8080, 8100-8199, 8443 } accept[^]*udp dport 51820 accept/)
  })
})

const noRoot = skipWithout('lines that change the system', 'root', 'command unshare', 'command useradd')
it.skipIf(noRoot)('the hub’s user and the folder of its backups are made', async () => {
  const root = await copyRoot()
  onTestFinished(() => root.remove())
  const [user] = linesOf('systemd.md', 'useradd')
  const [folder] = linesOf('backup.md', 'mkdir')
  const { code, output } = root.shell(`${user} && ${folder} && getent passwd hedgerow && stat -c '%a %U' /srv/backup`)
  expect([code, output]).toEqual([0, expect.stringMatching(/:\/var\/lib\/hedgerow:\/usr\/sbin\/nologin\n700 root\n$/)])
})
