import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGatewayInvitation, listGateways, readHubSettings } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createApiAs } from '../harness/api-client.ts'
import { copyRoot, type CopiedRoot } from '../harness/copied-root.ts'
import { freeTcpPort, freeUdpPort } from '../harness/free-ports.ts'
import { printedPassword, startHub } from '../harness/hub.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'

/**
 * The packages and install.sh in a fresh, minimal Debian, which has nothing that this machine happens to have. It takes
 * minutes and Debian's mirror, so only `npm run test:packages` runs it.
 */
const ROOT = join(import.meta.dirname, '../..')
const isAsked = process.env['TEST_PACKAGES'] === 'on'
if (!isAsked) console.log('skipped: packages in a fresh Debian: npm run test:packages runs them')
const lacks = isAsked && skipWithout('packages in a fresh Debian', 'root', 'command unshare', 'command mmdebstrap')

describe.skipIf(!isAsked || lacks)('in a fresh Debian', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-packages-'))
  const [debian, made, newer] = ['debian', 'made', 'newer'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const nameOf = (product: string, version = manifest.version) => `${product}_${version}_${architecture}.deb`
  let root: CopiedRoot
  const done = (line: string): string => {
    const { code, output } = root.shell(line)
    expect(code, `${line}\n${output}`).toBe(0)
    return output
  }
  const fails = (line: string): string => {
    const { code, output } = root.shell(line)
    expect(code, `${line}\n${output}`).not.toBe(0)
    return output
  }
  const apt = (words: string) => `DEBIAN_FRONTEND=noninteractive apt-get -y -qq --no-install-recommends ${words} 2>&1`

  beforeAll(async () => {
    const release = [join(ROOT, 'scripts/bundles/release.ts'), '--into', made, '--platforms', `linux-${process.arch}`]
    execFileSync(process.execPath, [...release, '--compression', 'none', '--forms', 'archive,deb', '--keys', keys()])
    // The same package with a higher number.
    const unpacked = join(folder, 'unpacked')
    execFileSync('dpkg-deb', ['-R', join(made, nameOf('hedgerow-hub')), unpacked])
    execFileSync('sed', ['-i', 's/^Version: .*/Version: 9.0.0/', join(unpacked, 'DEBIAN/control')])
    mkdirSync(newer)
    execFileSync('dpkg-deb', ['-Znone', '--build', unpacked, join(newer, nameOf('hedgerow-hub', '9.0.0'))])
    execFileSync('mmdebstrap', ['--variant=minbase', '--quiet', '--include=curl,ca-certificates', 'bookworm', debian])
    root = await copyRoot(debian)
    // What an installed system has beyond a root.
    done(`echo '127.0.0.1 localhost' >/etc/hosts; ${apt('update')}`)
  }, 600_000)

  afterAll(async () => {
    await root?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  function keys(): string {
    const path = join(folder, 'keys')
    execFileSync(process.execPath, [join(ROOT, 'scripts/bundles/release.ts'), 'keys', path])
    return path
  }

  it('lintian finds nothing in the packages (skipped without lintian)', ({ skip }) => {
    // The packages of a release are compressed; those of this test are not.
    const tags = ['control', 'data'].map((part) => `uses-no-compression-for-${part}-tarball`).join(',')
    const packages = ['hedgerow-hub', 'hedgerow-gateway'].map((product) => join(made, nameOf(product)))
    const options = ['--allow-root', '--fail-on', 'error,warning', '--suppress-tags', tags]
    const { error, status, stdout } = spawnSync('lintian', [...options, ...packages], { encoding: 'utf8' })
    if (error) skip('lintian is not installed')
    expect([status, stdout]).toEqual([0, ''])
  })

  it('the package of the hub installs, serves, backs up before it is replaced, stays when removed, goes when purged', async () => {
    done(apt(`install ${root.bring(join(made, nameOf('hedgerow-hub')))}`))
    expect(done('stat -c "%a %U" /etc/hedgerow/hub.env /var/lib/hedgerow')).toBe('600 root\n700 hedgerow\n')
    const [port, vpnPort] = [await freeTcpPort(), await freeUdpPort()]
    done(
      `printf 'HUB_HOST=127.0.0.1\nHUB_PORT=${port}\nHUB_HTTPS_PORT=off\nHUB_VPN_PORT=${vpnPort}\n' >>/etc/hedgerow/hub.env`,
    )
    const hub = await root.start('hedgerow-hub', [])
    const url = `http://localhost:${port}`
    await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { for: 'the hub to be ready' })
    const api = createApiAs(url, { username: 'admin', password: printedPassword(hub.output())! })
    expect((await api(readHubSettings)).hubName).toBeTypeOf('string')
    expect(done('ps -o user= -p $(pgrep -f lib/hedgerow-hub/lib) || id -un hedgerow')).toContain('hedgerow')

    done(apt(`install ${root.bring(join(newer, nameOf('hedgerow-hub', '9.0.0')))}`))
    const [backup] = done('ls /var/backups/hedgerow').split('\n')
    expect(backup).toMatch(/^before-9\.0\.0-\d{8}-\d{6}$/)
    expect(done('cat /etc/hedgerow/hub.env')).toContain(`HUB_PORT=${port}`)
    await hub.stop()
    done(`hedgerow-hub restore /var/backups/hedgerow/${backup}`)

    // A backup that fails keeps the version that works.
    done('mv /var/lib/hedgerow/hub.sqlite /tmp/whole; echo nonsense >/var/lib/hedgerow/hub.sqlite')
    expect(
      fails(apt(`install --reinstall --allow-downgrades ${root.bring(join(made, nameOf('hedgerow-hub')))}`)),
    ).toContain('there is no backup, so nothing was upgraded')
    expect(done("dpkg-query -W -f '${Version}' hedgerow-hub")).toBe('9.0.0')
    done('mv /tmp/whole /var/lib/hedgerow/hub.sqlite')

    done(apt('remove hedgerow-hub'))
    expect(done('ls /var/lib/hedgerow /etc/hedgerow')).toMatch(/hub\.env[^]*hub\.sqlite/)
    fails('ls /usr/lib/hedgerow-hub')
    expect(done(apt('purge hedgerow-hub'))).toContain('backups stay in /var/backups/hedgerow')
    fails('ls -d /var/lib/hedgerow')
    fails('ls -d /etc/hedgerow')
    fails('id hedgerow')
  })

  it('the package of the gateway installs, keeps its keys when removed, and forgets them when purged', async () => {
    done(apt(`install ${root.bring(join(made, nameOf('hedgerow-gateway')))}`))
    expect(done('hedgerow-gateway check')).toContain('gateway.yaml')
    const agent = await root.start('hedgerow-gateway', ['--port', '0', '--hub', 'http://127.0.0.1:9'])
    await waitFor(() => root.shell('ls /var/lib/hedgerow-gateway/keys.json').code === 0, { for: 'the keys' }).finally(
      () => agent.stop(),
    )
    done(apt('remove hedgerow-gateway'))
    expect(done('ls /var/lib/hedgerow-gateway /etc/hedgerow')).toMatch(/gateway\.yaml[^]*keys\.json/)
    done(apt('purge hedgerow-gateway'))
    fails('ls -d /var/lib/hedgerow-gateway')
    fails('ls -d /etc/hedgerow')
  })

  it('install.sh brings the libraries that a minimal system lacks, joins, and is removed again', async () => {
    done(apt('purge libatomic1') + '; ! ls /usr/lib/*/libatomic.so.1')
    const hub = await startHub({ env: { HUB_DOWNLOADS_DIR: made, HUB_HTTPS_PORT: '0' } })
    try {
      const { command } = await hub.api(createGatewayInvitation, { body: { label: 'barn', maxUses: 1 } })
      const line = command.replace('sudo ', '')
      expect(done(line)).toMatch(/Installing with apt-get: libatomic1/)
      const agent = await root.start('hedgerow-gateway', ['--port', '0'])
      await waitFor(async () => (await hub.api(listGateways)).some(({ status }) => status === 'online'), {
        for: 'the device to be online',
      }).finally(() => agent.stop())
      expect(done(line)).not.toContain('Fetching')
      // Two ways of installation would hide one another.
      expect(fails(apt(`install ${root.bring(join(made, nameOf('hedgerow-gateway')))}`))).toContain('--uninstall')
      done(`${line} --uninstall --purge`.replace(/--invitation \S+/, ''))
      fails('ls -d /opt/hedgerow-gateway /var/lib/hedgerow-gateway /etc/hedgerow')
    } finally {
      await hub.stop()
    }
  })
})
