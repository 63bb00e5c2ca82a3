import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGatewayInvitation, listGateways, readHubSettings } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createApiAs } from '../harness/api-client.ts'
import { bootRoot, type BootedRoot } from '../harness/booted-root.ts'
import { copyRoot, type CopiedRoot } from '../harness/copied-root.ts'
import { freeTcpPort, freeUdpPort } from '../harness/free-ports.ts'
import { printedPassword, startHub } from '../harness/hub.ts'
import { makeNextHub } from '../harness/next-hub.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'

/**
 * The packages and install.sh in a fresh, minimal Debian, without the software of this machine. It takes minutes and
 * Debian's mirror, so only `npm run test:packages` runs it.
 */
const ROOT = join(import.meta.dirname, '../..')
/** Longer than the busiest machine takes. */
const PATIENCE_MS = 120_000
const INCLUDED = 'curl,ca-certificates,systemd,systemd-sysv,dbus'
const isAsked = process.env['TEST_PACKAGES'] === 'on'
if (!isAsked) console.log('skipped: packages in a fresh Debian: npm run test:packages runs them')
const lacks = isAsked && skipWithout('packages in a fresh Debian', 'root', 'command unshare', 'command mmdebstrap')

const MAIN = 'lib/apps/hub/src/main.js'
/** A version with one migration more, whose database an older one refuses. */
function migrates(hub: string): void {
  const code = globSync('lib/chunks/program-*.js', { cwd: hub }).map((file) => join(hub, file))[0]!
  const last = /(\{name:`\d{3}-[\w-]+`,up(?::[\w$]+)?\})\]/
  const text = readFileSync(code, 'utf8')
  expect(text).toMatch(last)
  // Writes a new file, because the old one may be a hard link.
  rmSync(code)
  writeFileSync(code, text.replace(last, '$1,{name:`999-sample`,up:async()=>{}}]'))
}
const endsAtOnce = (hub: string) => writeFileSync(join(hub, MAIN), 'if (process.argv.length === 2) process.exit(1)')

describe.skipIf(!isAsked || lacks)('in a fresh Debian', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-packages-'))
  const at = (name: string) => join(folder, name)
  const [debian, keys, releases] = [at('debian'), at('keys'), at('releases')]
  const [made, newer, broken] = [join(releases, 'made'), join(releases, 'newer'), join(releases, 'broken')]
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
    const command = (...args: string[]) =>
      execFileSync(process.execPath, [join(ROOT, 'scripts/bundles/release.ts'), ...args])
    command('keys', keys)
    const options = ['--platforms', `linux-${process.arch}`, '--compression', 'none', '--keys', keys]
    command('--into', made, ...options)
    makeNextHub({ made, keys, into: newer, version: '9.0.0', change: migrates })
    makeNextHub({ made, keys, into: broken, version: '10.0.0', change: endsAtOnce })
    execFileSync('mmdebstrap', ['--variant=minbase', '--quiet', `--include=${INCLUDED}`, 'bookworm', debian])
    // An installed system has this file; this one is only unpacked. Without it curl knows localhost, and libc does not.
    writeFileSync(join(debian, 'etc/hosts'), '127.0.0.1 localhost\n')
    root = await copyRoot(debian)
    done(apt('update'))
  }, 600_000)

  afterAll(async () => {
    await root?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  it('lintian finds nothing in the packages (skipped without lintian)', ({ skip }) => {
    // The packages of a release are compressed; those of this test are not.
    const tags = ['control', 'data'].map((part) => `uses-no-compression-for-${part}-tarball`).join(',')
    const packages = ['hedgerow-hub', 'hedgerow-gateway'].map((product) => join(made, nameOf(product)))
    const options = ['--allow-root', '--fail-on', 'error,warning', '--suppress-tags', tags]
    const { error, status, stdout } = spawnSync('lintian', [...options, ...packages], { encoding: 'utf8' })
    if (error) skip('lintian is not installed')
    expect([status, stdout]).toEqual([0, ''])
  })

  it('the package of the hub installs, serves, backs up before an upgrade, keeps its data until purged', async () => {
    done(apt(`install ${root.bring(join(made, nameOf('hedgerow-hub')))}`))
    expect(done('stat -c "%a %U" /etc/hedgerow/hub.env /var/lib/hedgerow')).toBe('600 root\n700 hedgerow\n')
    const [port, vpnPort] = [await freeTcpPort(), await freeUdpPort()]
    done(
      `printf 'HUB_HOST=127.0.0.1\nHUB_PORT=${port}\nHUB_HTTPS_PORT=off\nHUB_VPN_PORT=${vpnPort}\n' ` +
        '>>/etc/hedgerow/hub.env',
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
    ).toContain('the backup failed, so nothing was upgraded')
    expect(done("dpkg-query -W -f '${Version}' hedgerow-hub")).toBe('9.0.0')
    done('mv /tmp/whole /var/lib/hedgerow/hub.sqlite')

    done(apt('remove hedgerow-hub'))
    expect(done('ls /var/lib/hedgerow /etc/hedgerow')).toMatch(/hub\.env[^]*hub\.sqlite/)
    fails('ls /usr/lib/hedgerow-hub')
    expect(done(apt('purge hedgerow-hub'))).toContain('backups stay in /var/backups/hedgerow')
    fails('ls -d /var/lib/hedgerow')
    fails('ls -d /etc/hedgerow')
    fails('id hedgerow')

    // As air-gapped.md says.
    done(`cd /tmp && apt-get download -qq libatomic1 && dpkg --install libatomic1_*.deb ${nameOf('hedgerow-hub')}`)
    expect(done('hedgerow-hub --version')).toBe(`${manifest.version}\n`)
    done(apt('purge hedgerow-hub'))
  })

  it('the package of the gateway installs, keeps its keys when removed, and deletes them when purged', async () => {
    done(apt(`install ${root.bring(join(made, nameOf('hedgerow-gateway')))}`))
    expect(done('hedgerow-gateway check')).toContain('gateway.yaml')
    const agent = await root.start('hedgerow-gateway', ['--port', '0', '--hub', 'http://127.0.0.1:9'])
    try {
      await waitFor(() => root.shell('ls /var/lib/hedgerow-gateway/keys.json').code === 0, {
        for: 'the keys',
        timeoutMs: PATIENCE_MS,
      })
      await agent.says(/device page is open/)
      expect(done('hedgerow-gateway status')).toContain('Update: Its package updates it: ')
      expect(done('hedgerow-gateway password')).toMatch(/shown once: \S+$/m)
    } finally {
      await agent.stop()
    }
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
      const { command: line } = await hub.api(createGatewayInvitation, { body: { label: 'barn', maxUses: 1 } })
      expect(done(line)).toMatch(/Installing with apt-get: libatomic1/)
      const agent = await root.start('hedgerow-gateway', ['--port', '0'])
      await waitFor(async () => (await hub.api(listGateways)).some(({ status }) => status === 'online'), {
        for: 'the device to be online',
      }).finally(() => agent.stop())
      expect(done(line)).not.toContain('Fetching')
      // Two kinds of installation at once would conflict.
      expect(fails(apt(`install ${root.bring(join(made, nameOf('hedgerow-gateway')))}`))).toContain('--uninstall')
      done(`${line} --uninstall --purge`.replace(/--invitation \S+/, ''))
      fails('ls -d /opt/hedgerow-gateway /var/lib/hedgerow-gateway /etc/hedgerow')
    } finally {
      await hub.stop()
    }
  })

  const noImages = skipWithout('two builds of an image', 'command podman')
  it.skipIf(noImages)('two builds of an image have the same bytes, which podman loads', () => {
    const file = `hedgerow-hub-${manifest.version}-linux-${process.arch}.image.tar`
    const options = ['--platforms', `linux-${process.arch}`, '--products', 'hedgerow-hub', '--forms', 'image']
    const [one, other] = ['one', 'other'].map((name) => {
      execFileSync(process.execPath, [join(ROOT, 'scripts/bundles/release.ts'), '--into', at(name), ...options])
      return at(join(name, file))
    })
    execFileSync('cmp', [one!, other!])
    const { stdout } = spawnSync('podman', ['load', '--quiet', '--input', one!], { encoding: 'utf8' })
    const image = stdout.trim().split(' ').at(-1)!
    const [known] = JSON.parse(execFileSync('podman', ['image', 'inspect', image], { encoding: 'utf8' })) as object[]
    execFileSync('podman', ['image', 'rm', image])
    expect(known).toMatchObject({
      User: '10001:10001',
      Healthcheck: { Test: expect.arrayContaining(['CMD']) },
    })
  })

  const noSystemd = skipWithout('the services under systemd', 'command systemd-nspawn')
  describe.skipIf(noSystemd)('under systemd', () => {
    let booted: BootedRoot
    beforeAll(async () => {
      booted = await bootRoot(debian, releases)
      inside('apt-get update -qq')
    }, 300_000)
    afterAll(() => booted?.remove())

    /** Runs a line in the container; returns its output. */
    function inside(line: string, expected = 0): string {
      const { code, output } = booted.shell(line)
      expect(code, `${line}\n${output}\n${booted.shell('journalctl --no-pager | tail -n 20').output}`).toBe(expected)
      return output
    }

    it('the hub starts, updates itself, is rolled back when silent, and goes back by one command', async () => {
      // An earlier try may have left the next version.
      booted.shell(`${apt('purge hedgerow-hub')}; rm -rf /var/backups/hedgerow`)
      inside(apt(`install dpkg-repack /mnt/made/${nameOf('hedgerow-hub')}`))
      const [port, vpnPort] = [await freeTcpPort(), await freeUdpPort()]
      const settings = `HUB_HOST=127.0.0.1\nHUB_PORT=${port}\nHUB_HTTPS_PORT=off\nHUB_VPN_PORT=${vpnPort}\n`
      inside(`printf '${settings}HUB_UPDATES_URL=file:///mnt/newer\n' >>/etc/hedgerow/hub.env`)
      inside('systemctl restart hedgerow-hub')
      const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
      await waitFor(isReady, { for: 'the hub of the unit', timeoutMs: PATIENCE_MS })
      const installed = () => inside("dpkg-query -W -f '${Version}' hedgerow-hub")

      expect(inside('hedgerow-hub check-update')).toContain('Version 9.0.0 is available')
      expect(inside('hedgerow-hub update')).toContain('Version 9.0.0 is running.')
      expect([installed(), await isReady()]).toEqual(['9.0.0', true])
      expect(inside('hedgerow-hub update')).toContain('Version 9.0.0 is the newest.')
      const back = inside('hedgerow-hub back')
      expect(back).toContain('the backup from before the upgrade is restored')
      expect(back).toContain(`Version ${manifest.version} is running.`)
      expect([installed(), await isReady()]).toEqual([manifest.version, true])
      expect(inside('hedgerow-hub back', 1)).toContain('no version to go back to')
      // Settings of a person stay through all versions.
      expect(inside('cat /etc/hedgerow/hub.env')).toContain(`HUB_PORT=${port}\n`)
      inside('hedgerow-hub update && hedgerow-hub back && hedgerow-hub update')
      expect([inside('cat /etc/hedgerow/hub.env'), await isReady()]).toEqual([
        expect.stringContaining(`HUB_PORT=${port}\n`),
        true,
      ])
      inside('hedgerow-hub back')

      const broke = inside('HEDGEROW_READY_SECONDS=10 hedgerow-hub update /mnt/broken', 1)
      expect(broke).toMatch(/10\.0\.0 does not answer: returning to the previous version[^]*Version \d\S+ is running/)
      expect([installed(), await isReady()]).toEqual([manifest.version, true])
      inside(`${apt('purge hedgerow-hub')}; ! systemctl cat hedgerow-hub`)
    }, 600_000)

    it('install.sh installs a service that joins by itself, comes back after a crash, and is removed', async () => {
      const hub = await startHub({ env: { HUB_DOWNLOADS_DIR: made, HUB_HTTPS_PORT: '0' } })
      try {
        const { command } = await hub.api(createGatewayInvitation, { body: { label: 'barn', maxUses: 1 } })
        inside('mkdir -p /etc/hedgerow; echo GATEWAY_PORT=0 >/etc/hedgerow/gateway.env')
        expect(inside(command)).toContain(`Version ${manifest.version} is running.`)
        const isOnline = async () => (await hub.api(listGateways)).some(({ status }) => status === 'online')
        await waitFor(isOnline, { for: 'the device to be online', timeoutMs: PATIENCE_MS }).catch(async (cause) => {
          const known = JSON.stringify(await hub.api(listGateways))
          throw new Error(`${known}\n${inside('journalctl --no-pager --unit hedgerow-gateway | tail -n 40')}`, {
            cause,
          })
        })
        const mainPid = () => inside('systemctl show --property MainPID --value hedgerow-gateway').trim()
        const before = mainPid()
        inside(`kill -KILL ${before}`)
        await waitFor(() => Promise.resolve(!['0', before].includes(mainPid())), { for: 'its next start' })
        inside('systemctl is-active hedgerow-gateway')
        const uninstall = `${command} --uninstall --purge`.replace(/--invitation \S+/, '')
        inside(uninstall)
        inside('! systemctl is-active hedgerow-gateway; ! ls -d /opt/hedgerow-gateway /var/lib/hedgerow-gateway')
      } finally {
        await hub.stop()
      }
    }, 600_000)
  })
})
