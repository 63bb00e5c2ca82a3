import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { installScript } from '../../apps/hub/src/downloads/install-script.ts'
import { writeDebianPackage } from '../../scripts/bundles/debian-package.ts'
import { PRODUCTS, type ProductName } from '../../scripts/bundles/products.ts'
import { copyRoot, type CopiedRoot } from '../harness/copied-root.ts'
import { skipWithout } from '../harness/privileges.ts'

/**
 * Whether somebody who broke into a gateway becomes root: install.sh and the packages in a copied root, with programs
 * of somebody who did. Every attack here made `/root/owned`, or would have, up to version 0.1.0.
 */
const ROOT = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'hedgerow-attack-'))
const VERSION = '9.9.9'
const platform = `linux-${process.arch}`
const lacks = skipWithout('attacks on root', 'root', 'command unshare', 'command dpkg-deb', 'command perl')

/** The gateway's and the hub's program, as somebody wrote it who broke in. */
const PROGRAM = `#!/bin/sh
case \${1:-} in
  init) echo '# new' >"$GATEWAY_CONFIG" ;;
  show) exec env -0 ;;
  where) id -un; tty; readlink /proc/self/fd/1 /proc/self/fd/2; grep NoNewPrivs /proc/self/status; exit 7 ;;
  type) exec perl -e 'for $file ("/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr") {
      open(my $terminal, "+<", $file) or next;
      ioctl($terminal, 0x5412, my $copy = $_) for split(//, "touch /root/owned\\n");
    }' ;;
  backup) touch "$2" ;;
  fetch-update) echo seen >"$HUB_DATA_DIR/updates-seen.json.1" ;;
  doctor) echo sound ;;
esac
`
/** What the gateway's files were up to version 0.1.0: the folder of the settings is open to it. */
const BEFORE = `
id hedgerow-gateway >/dev/null 2>&1 || useradd --system --user-group \\
  --home-dir /var/lib/hedgerow-gateway --no-create-home --shell /usr/sbin/nologin \\
  hedgerow-gateway
mkdir -p /etc/hedgerow && chown root:hedgerow-gateway /etc/hedgerow && chmod 1770 /etc/hedgerow
install -d -m 0700 -o hedgerow-gateway -g hedgerow-gateway /var/lib/hedgerow-gateway
install -m 0600 /dev/null /etc/hedgerow/gateway.env
echo 'GATEWAY_LOG_LEVEL="debug"' >/etc/hedgerow/gateway.env
`
const FILE = { product: 'hedgerow-gateway' as const, name: 'none.tar', size: 1, sha256: '0'.repeat(64) }
const AS_GATEWAY = 'setpriv --reuid=hedgerow-gateway --regid=hedgerow-gateway --clear-groups'
const AS_HUB = 'setpriv --reuid=hedgerow --regid=hedgerow --clear-groups'
/**
 * Makes a pipe in place of the file that install.sh wrote first up to version 0.1.0, and writes a command into it once
 * install.sh has renamed it to the settings.
 */
const PIPES = `
use POSIX; use Fcntl; $| = 1;
my ($new, $settings, $parent) = ("/etc/hedgerow/gateway.env.new", "/etc/hedgerow/gateway.env", $$);
if (fork) {
  print "ready\\n";
  my @readers;
  while (1) { if (mkfifo($new, 0666) && sysopen(my $reader, $new, O_RDONLY | O_NONBLOCK)) { push @readers, $reader } }
}
while (getppid() == $parent) {
  if (-p $settings && sysopen(my $writer, $settings, O_RDWR)) { syswrite($writer, "touch /root/owned\\n") }
  select(undef, undef, undef, 0.002);
}
`
/** In the form in which install.sh, started without a terminal, starts all others too. */
const INSTALL = 'sh /tmp/install.sh </dev/null'
const isOwned = '! ls /root/owned 2>/dev/null'

/** A package whose program is the one above. `change` edits the unpacked package. */
async function packageOf(name: ProductName, version: string, change?: (unpacked: string) => void): Promise<string> {
  const into = mkdtempSync(join(folder, 'package-'))
  const built = join(into, 'built')
  mkdirSync(join(built, 'bin'), { recursive: true })
  writeFileSync(join(built, 'bin', name), PROGRAM, { mode: 0o755 })
  writeFileSync(join(built, 'version.json'), JSON.stringify({ version, number: 1 }))
  for (const file of ['LICENSE', 'THIRD-PARTY.txt']) writeFileSync(join(built, file), 'text')
  const product = PRODUCTS.find((one) => one.name === name)!
  const described = { product, platform, version, title: name, folder: built }
  const file = join(into, await writeDebianPackage(described, { time: 1, compression: 'none', into }))
  if (!change) return file
  const unpacked = join(into, 'unpacked')
  execFileSync('dpkg-deb', ['-R', file, unpacked])
  change(unpacked)
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', unpacked, file], { stdio: 'pipe' })
  return file
}

describe.skipIf(lacks)('somebody who broke into a gateway', () => {
  const packages = {} as Record<ProductName, string>
  beforeAll(async () => {
    for (const name of ['hedgerow-hub', 'hedgerow-gateway'] as const) packages[name] = await packageOf(name, VERSION)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A root with install.sh and an unpacked version of the gateway, which it installs. */
  async function freshRoot() {
    const root = await copyRoot()
    onTestFinished(() => root.remove())
    const script = installScript(
      { url: 'https://hub.example.net', pin: undefined },
      { fingerprint: 'AAAA BBBB' },
      { version: VERSION, number: 1, files: [{ ...FILE, platform }], rootKey: undefined },
    )
    for (const [name, text] of [
      ['install.sh', script],
      ['program', PROGRAM],
    ] as const)
      writeFileSync(join(folder, name), text)
    for (const file of ['install.sh', 'program']) root.bring(join(folder, file))
    root.bring(join(ROOT, 'apps/gateway/src/update/launch.sh'))
    const version = `/opt/hedgerow-gateway/versions/${VERSION}`
    const done = (line: string): string => {
      const { code, output } = root.shell(line)
      expect(code, `${line}\n${output}`).toBe(0)
      return output
    }
    // Of this machine.
    done('rm -rf /etc/hedgerow /opt/hedgerow-gateway /var/lib/hedgerow-gateway /root/owned')
    done(`mkdir -p ${version}/bin ${version}/lib/apps/gateway/src/update`)
    done(`install -m 0755 /tmp/program ${version}/bin/hedgerow-gateway`)
    done(`cp /tmp/launch.sh ${version}/lib/apps/gateway/src/update`)
    return { ...root, done }
  }

  /** Installs a package without a terminal and without the packages that it depends on, which this machine may lack. */
  const dpkg = (root: Pick<CopiedRoot, 'bring'>, file: string) =>
    `dpkg --force-depends --install ${root.bring(file)} </dev/null 2>&1`

  it('gets nothing executed by a pipe in place of a file that install.sh writes, in 20 tries', async () => {
    const { bring, done, shell, start } = await freshRoot()
    done(BEFORE)
    writeFileSync(join(folder, 'pipes.pl'), PIPES)
    const attacker = await start('sh', ['-c', `exec ${AS_GATEWAY} perl ${bring(join(folder, 'pipes.pl'))}`])
    onTestFinished(() => attacker.stop().then(() => undefined))
    await attacker.says(/ready/)
    for (let count = 0; count < 20; count++) {
      // As it was before each.
      done('chown root:hedgerow-gateway /etc/hedgerow && chmod 1770 /etc/hedgerow')
      shell(`timeout 20 ${INSTALL} >/dev/null 2>&1; timeout 5 hedgerow-gateway doctor`)
    }
    done(isOwned)
    done(INSTALL)
    expect(done('stat -c "%F %U %a" /etc/hedgerow /etc/hedgerow/gateway.env')).toBe(
      'directory root 755\nregular file root 600\n',
    )
    expect(done('cat /etc/hedgerow/gateway.env')).toContain('GATEWAY_LOG_LEVEL="debug"\nGATEWAY_HUB_URL=')
  })

  it('writes nothing where root reads once install.sh has run, and the settings are carried over', async () => {
    const { done, shell } = await freshRoot()
    done(BEFORE)
    done(`${AS_GATEWAY} sh -c 'umask 077; echo "# ours" >/etc/hedgerow/gateway.yaml'`)
    done('echo secret >/etc/hedgerow/camera-password; mkdir /etc/hedgerow/models')
    done(INSTALL)
    expect(done('cat /etc/hedgerow/gateway/gateway.yaml /etc/hedgerow/gateway.yaml')).toBe('# ours\n# ours\n')
    expect(done('readlink /etc/hedgerow/gateway.yaml')).toBe('gateway/gateway.yaml\n')
    // What `!file camera-password` finds, also after the move, and nobody but the gateway.
    expect(done(`${AS_GATEWAY} cat /etc/hedgerow/gateway/camera-password /etc/hedgerow/camera-password`)).toBe(
      'secret\nsecret\n',
    )
    expect(shell('setpriv --reuid=nobody --clear-groups cat /etc/hedgerow/camera-password').code).not.toBe(0)
    for (const name of ['hub.env', 'gateway.env.new', 'gateway.yaml.tmp', 'release.conf'])
      expect(shell(`${AS_GATEWAY} mkfifo /etc/hedgerow/${name}`).code, name).not.toBe(0)
    // Its own interface writes beside gateway.yaml, by both paths.
    done(`${AS_GATEWAY} sh -c 'cd /etc/hedgerow/gateway && echo "# more" >new && mv new gateway.yaml'`)
    expect(done('cat /etc/hedgerow/gateway.yaml')).toBe('# more\n')
    const before = done('ls -lA /etc/hedgerow')
    done(INSTALL)
    expect(done('ls -lA /etc/hedgerow').replaceAll(/.* gateway\.env\n/g, '')).toBe(
      before.replaceAll(/.* gateway\.env\n/g, ''),
    )
  })

  it.each([
    ['a link to a folder of root', 'ln -s /etc/cron.d /etc/hedgerow/gateway'],
    ['a folder', 'mkdir -m 0777 /etc/hedgerow/gateway'],
    ['a pipe', 'mkfifo /etc/hedgerow/gateway'],
    ['a pipe in place of gateway.yaml', 'rm /etc/hedgerow/gateway.yaml; mkfifo /etc/hedgerow/gateway.yaml'],
    ['a link in place of gateway.yaml', 'ln -sf /etc/shadow /etc/hedgerow/gateway.yaml'],
    ['a folder in place of gateway.yaml', 'rm /etc/hedgerow/gateway.yaml; mkdir /etc/hedgerow/gateway.yaml'],
    ['a link in place of a new file', 'ln -s /etc/shadow /etc/hedgerow/.gateway.yaml'],
    ['names with line ends', "cd /etc/hedgerow; touch 'a\nb' -- -rf ..x"],
  ])('leaves %s for install.sh, and gets nothing', async (_, trap) => {
    const { done } = await freshRoot()
    done(BEFORE)
    done(`${AS_GATEWAY} sh -c 'echo "# ours" >/etc/hedgerow/gateway.yaml'`)
    const of = 'stat -c "%n %U %G %a" /etc/cron.d /etc/shadow /etc/passwd; sha256sum /etc/shadow; ls /etc/cron.d'
    const before = done(of)
    done(`${AS_GATEWAY} sh -c "${trap.replaceAll('"', '\\"')}"`)
    done(INSTALL)
    expect(done(of)).toBe(before)
    expect(done('stat -c "%F %U %a" /etc/hedgerow /etc/hedgerow/gateway')).toBe(
      'directory root 755\ndirectory hedgerow-gateway 700\n',
    )
    expect(done('readlink /etc/hedgerow/gateway.yaml')).toBe('gateway/gateway.yaml\n')
    done(INSTALL)
  })

  it('cannot keep install.sh from removing what it has fetched', async () => {
    const { bring, done, start } = await freshRoot()
    done(INSTALL)
    writeFileSync(join(folder, 'fill.pl'), '$| = 1; print "ready\\n"; while (1) { mkdir("x" . $count++) }')
    const perl = `exec ${AS_GATEWAY} perl ${bring(join(folder, 'fill.pl'))}`
    const filler = await start('sh', ['-c', `cd /opt/hedgerow-gateway/updates && ${perl}`])
    onTestFinished(() => filler.stop().then(() => undefined))
    await filler.says(/ready/)
    for (let count = 0; count < 5; count++) done(INSTALL)
    expect(done('ls -A /opt/hedgerow-gateway/updates')).toBe('')
  })

  /** A root whose gateway runs a version that it fetched. `onTerminal` returns what root's terminal shows of a line. */
  async function brokenInto() {
    const root = await freshRoot()
    const { bring, done, shell } = root
    done(INSTALL)
    done(`${AS_GATEWAY} mkdir -p /opt/hedgerow-gateway/updates/a/bin`)
    done(`${AS_GATEWAY} install -m 0755 /tmp/program /opt/hedgerow-gateway/updates/a/bin/hedgerow-gateway`)
    done(`${AS_GATEWAY} ln -s a /opt/hedgerow-gateway/updates/current`)
    const onTerminal = (line: string): string => {
      writeFileSync(join(folder, 'line'), line)
      const { output } = shell(`script -qec 'sh ${bring(join(folder, 'line'))}' /dev/null </dev/null`)
      // The end of the standard input of `script`, and the line ends of a terminal.
      return ['^@', '^D', '\0', '\b', '\r'].reduce((text, one) => text.replaceAll(one, ''), output)
    }
    return { ...root, onTerminal }
  }

  it('has no hold of the terminal of root, whose command has one of its own', async () => {
    const { onTerminal } = await brokenInto()
    const own = onTerminal('tty; hedgerow-gateway where; echo "code $?"')
    const [roots, person, terminal, out, error, privileges, code] = own.split('\n')
    expect([person, privileges, code]).toEqual(['hedgerow-gateway', 'NoNewPrivs:\t1', 'code 7'])
    expect(new Set([terminal, out, error]).size).toBe(1)
    expect(terminal).toMatch(/^\/dev\/pts\/\d+$/)
    expect(terminal).not.toBe(roots)
    // A pipe stays a pipe.
    expect(onTerminal('hedgerow-gateway where 2>&1 | grep pipe: | wc -l')).toContain('2')
    expect(onTerminal('echo given | hedgerow-gateway where 2>/dev/null; echo "code $?"')).toContain('not a tty')

    // As in a root directory that is being prepared.
    const bare = onTerminal('mount -t tmpfs tmpfs /dev/pts; hedgerow-gateway where; echo "code $?"; umount /dev/pts')
    expect(bare).toMatch(/^hedgerow-gateway\nnot a tty\n(pipe:\S+\n){2}NoNewPrivs:\t1\ncode 7\n/)
  })

  const typingIsOff = readOr('/proc/sys/dev/tty/legacy_tiocsti', '1').startsWith('0')
  it.skipIf(typingIsOff)('types nothing into the terminal of root (skipped where the kernel prevents it)', async () => {
    const { onTerminal } = await brokenInto()
    // Whatever was typed waits to be read.
    const waiting = 'stty -icanon min 0 time 1; echo "waiting: $(dd bs=100 count=1 2>/dev/null)"'
    expect(onTerminal(`sh /tmp/program type; ${waiting}`), 'the attack itself').toMatch(/waiting: .*owned/)
    for (const command of ['type', 'type | cat', 'type >/dev/null', 'type </dev/null >/dev/null 2>&1'])
      expect(onTerminal(`hedgerow-gateway ${command}; ${waiting}`), command).not.toMatch(/waiting: .*owned/)
  })

  it('puts no command into the settings: they are parsed, and the same for unit and command', async () => {
    const { bring, done } = await freshRoot()
    done(INSTALL)
    const lines = ['A=$(touch /root/owned)', 'touch /root/owned', 'B="`touch /root/owned`"', 'C=; touch /root/owned']
    writeFileSync(join(folder, 'lines'), `${lines.join('\n')}\nD='one two' "three"\n`)
    done(`cat ${bring(join(folder, 'lines'))} >>/etc/hedgerow/gateway.env`)
    const shown = done('hedgerow-gateway show 2>/dev/null').split('\0')
    expect(shown).toEqual(
      expect.arrayContaining([
        'A=$(touch /root/owned)',
        'B=`touch /root/owned`',
        'C=; touch /root/owned',
        'D=one twothree',
      ]),
    )
    done(isOwned)
  })

  describe('on a machine with the package of the hub', () => {
    it.each([
      ['before the package', false],
      ['when it is upgraded', true],
    ])('gets nothing executed by a hub.env that was there %s', async (_, isUpgrade) => {
      const root = await freshRoot()
      const { done, shell } = root
      done(BEFORE)
      if (isUpgrade) {
        done(dpkg(root, packages['hedgerow-hub']))
        done('rm /etc/hedgerow/hub.env; touch /var/lib/hedgerow/hub.sqlite')
        done('chown root:hedgerow-gateway /etc/hedgerow && chmod 1770 /etc/hedgerow')
      }
      done(`${AS_GATEWAY} sh -c 'echo "touch /root/owned; HUB_PORT=1" >/etc/hedgerow/hub.env'`)
      shell('hedgerow-hub doctor; hedgerow-hub update')
      const { output } = shell(dpkg(root, packages['hedgerow-hub']))
      done(isOwned)
      expect(output).toContain('/etc/hedgerow/hub.env was not made by root')
      expect(done('hedgerow-hub doctor')).toBe('sound\n')
      expect(done('stat -c "%F %U %a" /etc/hedgerow /etc/hedgerow/hub.env')).toBe(
        'directory root 755\nregular file root 600\n',
      )
      expect(done('cat /etc/hedgerow/refused.*/hub.env')).toContain('HUB_PORT=1')
    })

    it.each([
      ['a file of root', 'ln -s /root/settings $HOME/x', 'hub.env'],
      ['the settings of the hub', 'ln -s /etc/hedgerow/hub.env $HOME/x', 'gateway.env'],
    ])('leaves a link to %s in place of settings, and has nothing read', async (_, makeTarget, name) => {
      const root = await freshRoot()
      const { done, shell } = root
      done(BEFORE)
      const asGateway = `HOME=/var/lib/hedgerow-gateway ${AS_GATEWAY}`
      done('printf "HUB_PORT=2\\nA_SECRET=3\\n" >/root/settings; chmod 0600 /root/settings')
      if (name === 'gateway.env') done('cp -p /root/settings /etc/hedgerow/hub.env; rm /etc/hedgerow/gateway.env')
      done(`${asGateway} sh -c '${makeTarget}; ln -s $HOME/x /etc/hedgerow/${name}'`)
      const { output } = shell(dpkg(root, packages['hedgerow-hub']))
      expect(output).toContain(`/etc/hedgerow/${name} was not made by root`)
      expect(shell(`readlink /etc/hedgerow/${name}`).output).toBe('')
      done(INSTALL)
      for (const command of ['hedgerow-hub', 'hedgerow-gateway'])
        expect(done(`${command} show`).includes('A_SECRET'), command).toBe(
          command === 'hedgerow-hub' && name !== 'hub.env',
        )
    })

    it('has no link followed that it made, by a command of root, wherever it leads at that time', async () => {
      const root = await freshRoot()
      const { done, shell } = root
      done(INSTALL)
      done(dpkg(root, packages['hedgerow-hub']))
      done('mv /etc/hedgerow/hub.env /root/settings; echo HUB_PORT=2 >>/root/settings')
      done('ln -s /root/settings /etc/hedgerow/hub.env')
      expect(done('hedgerow-hub show').split('\0')).toContain('HUB_PORT=2')
      done('chown -h hedgerow-gateway /etc/hedgerow/hub.env')
      expect(shell('hedgerow-hub show').output).toContain('must be a file that only root can write')
      // Root's link to a file of the gateway's.
      const ours = '/var/lib/hedgerow-gateway/x'
      done(`ln -sfn ${ours} /etc/hedgerow/hub.env`)
      const copy = `rm -f ${ours}; cp /root/settings ${ours}; chgrp hedgerow-gateway ${ours}`
      for (const change of ['chown hedgerow-gateway', 'chmod 0602', 'chmod 0620', `rm ${ours}; mkfifo`]) {
        done(`${copy}; ${change} ${ours}`)
        expect(shell('hedgerow-hub show').output, change).toContain('must be a file that only root can write')
      }
      // Another file takes its place between a look at it and the opening.
      done(
        `${copy}; mkdir /root/bin; printf '#!/bin/sh\n/usr/bin/find "$@"\nchown hedgerow-gateway ${ours}\n' ` +
          '>/root/bin/find',
      )
      done('chmod 0755 /root/bin/find')
      expect(shell('PATH=/root/bin:$PATH hedgerow-hub show').output).toContain(
        'must be a file that only root can write',
      )
    })

    it('as the hub has root’s updater write nowhere', async () => {
      const root = await freshRoot()
      const { done, shell } = root
      done(dpkg(root, packages['hedgerow-hub']))
      done(`touch /precious; ${AS_HUB} ln -s /precious /var/lib/hedgerow/updates-seen.json.1`)
      expect(done('hedgerow-hub update')).toContain('is the newest')
      expect(done('cat /precious /var/lib/hedgerow-hub/updates-seen.json.1')).toBe('seen\n')
      expect(shell('find /var/lib/hedgerow -user root').output).toBe('')
    })

    it('reaches no settings of the hub by an installation beside it', async () => {
      const root = await freshRoot()
      const { done, shell } = root
      done(dpkg(root, packages['hedgerow-hub']))
      done(INSTALL)
      for (const line of [
        'rm -f hub.env && touch hub.env',
        'mv hub.env x',
        'ln -sf /tmp/x hub.env',
        'touch hub.env.new',
      ])
        expect(shell(`cd /etc/hedgerow && ${AS_GATEWAY} sh -c '${line}'`).code, line).not.toBe(0)
      done('chown hedgerow /etc/hedgerow/hub.env')
      for (const command of ['doctor', 'update', 'back'])
        expect(shell(`hedgerow-hub ${command}`).output).toContain('must be a file that only root can write')
    })

    it('as the hub deletes no file of root by names of backups', async () => {
      const root = await freshRoot()
      const { done } = root
      done(dpkg(root, packages['hedgerow-hub']))
      done(
        'touch /var/lib/hedgerow/hub.sqlite /precious; install -d -m 0700 -o hedgerow -g hedgerow ' +
          '/var/backups/hedgerow',
      )
      const names = [1, 2, 3, 4, 5, 6, 7].map((count) => `'before-${count}\nprecious'`).join(' ')
      done(`cd /var/backups/hedgerow && ${AS_HUB} touch ${names}`)
      done(dpkg(root, packages['hedgerow-hub']))
      done('ls /precious')
      expect(done('ls /var/backups/hedgerow | grep -c "^before-9.9.9-"')).toBe('1\n')
    })
  })

  describe('with the package of the gateway', () => {
    it('a package of version 0.1.0 is upgraded: the folder is closed, and the settings are carried over', async () => {
      const root = await freshRoot()
      const { done, shell } = root
      done('rm -rf /opt/hedgerow-gateway')
      // As that version was: the settings were dpkg's, and its script opened the folder.
      const old = await packageOf('hedgerow-gateway', '0.1.0', (unpacked) => {
        mkdirSync(join(unpacked, 'etc/hedgerow'), { recursive: true })
        copyFileSync(
          join(ROOT, 'deploy/debian/hedgerow-gateway/gateway.env'),
          join(unpacked, 'etc/hedgerow/gateway.env'),
        )
        writeFileSync(join(unpacked, 'DEBIAN/conffiles'), '/etc/hedgerow/gateway.env\n')
        writeFileSync(
          join(unpacked, 'DEBIAN/postinst'),
          `#!/bin/sh\nset -e\n${BEFORE.split('\n').slice(0, 6).join('\n')}\n[ -e /etc/hedgerow/gateway.yaml ] || ` +
            `${AS_GATEWAY} sh -c 'echo "# new" >/etc/hedgerow/gateway.yaml'\n`,
        )
      })
      done(dpkg(root, old))
      done('echo GATEWAY_NAME=Barn >>/etc/hedgerow/gateway.env; echo "# ours" >>/etc/hedgerow/gateway.yaml')
      done(dpkg(root, packages['hedgerow-gateway']))
      expect(done('cat /etc/hedgerow/gateway/gateway.yaml')).toBe('# new\n# ours\n')
      expect(done('hedgerow-gateway show').split('\0')).toEqual(
        expect.arrayContaining(['GATEWAY_NAME=Barn', 'GATEWAY_CONFIG=/etc/hedgerow/gateway/gateway.yaml']),
      )
      expect(shell(`${AS_GATEWAY} touch /etc/hedgerow/hub.env`).code).not.toBe(0)
      // Back again, and forward once more: the former version finds the same file by its own path.
      done(`dpkg --force-depends --force-downgrade --force-confold --install /tmp/${basename(old)} </dev/null 2>&1`)
      expect(done('cat /etc/hedgerow/gateway.yaml')).toBe('# new\n# ours\n')
      done(dpkg(root, packages['hedgerow-gateway']))
      expect(done('cat /etc/hedgerow/gateway/gateway.yaml /etc/hedgerow/gateway.env')).toMatch(/# ours[^]*NAME=Barn/)
      expect(done('ls -d /etc/hedgerow/*')).not.toContain('refused')
      done('dpkg --purge hedgerow-gateway 2>&1; ! ls -d /etc/hedgerow /var/lib/hedgerow-gateway')
    })

    it('follows install.sh, and the hub follows a person’s settings, without a terminal or a question', async () => {
      const root = await freshRoot()
      const { done, shell } = root
      done(INSTALL)
      expect(shell(dpkg(root, packages['hedgerow-gateway'])).output).toContain('with --uninstall behind "sh -s --"')
      done(`${INSTALL} --uninstall`)
      done('echo HUB_PORT=8090 >/etc/hedgerow/hub.env')
      for (const name of ['hedgerow-gateway', 'hedgerow-hub'] as const) done(dpkg(root, packages[name]))
      expect(done('stat -c %a /etc/hedgerow/hub.env')).toBe('640\n')
      expect(done('hedgerow-gateway show').split('\0')).toContain('GATEWAY_HUB_URL=https://hub.example.net')
      expect(done('hedgerow-hub show').split('\0')).toContain('HUB_PORT=8090')
      expect(shell(INSTALL).output).toContain('apt-get remove hedgerow-gateway')
    })
  })

  it('has no release.conf executed by root', async () => {
    const { bring, done, shell } = await freshRoot()
    const script = bring(join(ROOT, 'scripts/release.sh'))
    done('mkdir -p /opt/hedgerow; echo "touch /root/owned" >/opt/hedgerow/release.conf; chown nobody /opt/hedgerow')
    expect(shell(`sh ${script} list`).output).toContain('/opt/hedgerow belongs to another user')
    done('chown root /opt/hedgerow; chown nobody /opt/hedgerow/release.conf')
    expect(shell(`sh ${script} list`).output).toContain('/opt/hedgerow/release.conf belongs to another user')
    done(isOwned)
  })

  it('who is not root gets sudo, or is told what to do where there is none', async () => {
    const { done, shell } = await freshRoot()
    done('cp /tmp/install.sh /tmp/served; chmod 0644 /tmp/served; rm -f /usr/bin/sudo /usr/local/bin/sudo')
    const asNobody = 'setpriv --reuid=nobody --clear-groups sh /tmp/install.sh --invitation CODE --name "a  b"'
    expect(shell(asNobody).output).toBe(
      'install.sh: only root can do this: become root (su -), and run the line again.\n',
    )
    // A stand-in for sudo, which gets the script anew and the same words.
    done(`printf '#!/bin/sh\\necho "words:"; printf "<%%s>" "$@"; cmp - /tmp/served && echo same' >/usr/local/bin/sudo`)
    done('chmod 0755 /usr/local/bin/sudo; sed -i "s#^HUB_URL=.*#HUB_URL=file:///tmp/hub#" /tmp/install.sh')
    done('mkdir /tmp/hub && cp /tmp/install.sh /tmp/hub/install.sh && cp /tmp/install.sh /tmp/served')
    const { output } = shell(`https_proxy=http://127.0.0.1:9 ${asNobody}`)
    expect(output).toContain('<https_proxy=http://127.0.0.1:9><sh><-s><--><--invitation><CODE><--name><a  b>same')
  })
})

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}
