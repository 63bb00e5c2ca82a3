/** Third-party servers, each on a port of this machine, as in a gateway's network. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startChild, type Child } from '../harness/child-process.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { waitFor } from '../harness/wait-for.ts'
import { installed, temporaryFolder } from './site.ts'

const run = promisify(execFile)
const HERE = import.meta.dirname
const DAV_MODULE = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so'
const NOVNC_FILES = '/usr/share/novnc'

async function started(
  life: AsyncDisposableStack,
  url: string,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Child> {
  const child = await startChild(command, args, { env })
  life.defer(async () => void (await child.stop()))
  const answers = async () => child.hasEnded() || (await fetch(url)).status < 500
  await waitFor(answers, { for: `${command} to answer`, timeoutMs: 120_000 })
  if (child.hasEnded()) throw new Error(`${command} ended: ${child.output()}`)
  return child
}

/** Debian's nginx with a folder of files, its list, a video, and the same folder writable by WebDAV and PUT. */
export async function startFileServer(life: AsyncDisposableStack) {
  const folder = await temporaryFolder(life)
  const files = join(folder, 'files')
  await mkdir(join(files, 'plain'), { recursive: true })
  await writeFile(join(files, 'plain', 'notes and ümlauts.txt'), 'apples\n'.repeat(1_000))
  await writeFile(join(files, 'player.html'), '<!doctype html><video src="/film.webm" controls muted></video>')
  const film = ['-f', 'lavfi', '-i', 'testsrc=size=640x360:rate=25:duration=60', '-c:v', 'libvpx', '-b:v', '2M']
  const fast = ['-deadline', 'realtime', '-cpu-used', '16', '-g', '50']
  await run('ffmpeg', ['-v', 'error', ...film, ...fast, join(files, 'film.webm')])
  const port = await freeTcpPort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const configuration = join(folder, 'nginx.conf')
  await writeFile(
    configuration,
    `load_module ${DAV_MODULE};
     user root; daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
     events {}
     http {
       include /etc/nginx/mime.types;
       access_log ${folder}/access.log;
       ${temporary.join('\n')}
       charset utf-8; gzip on; gzip_types text/plain;
       dav_ext_lock_zone zone=locks:1m;
       server {
         listen 127.0.0.1:${port};
         root ${files};
         client_max_body_size 0;
         location / { autoindex on; }
         location /dav/ {
           dav_methods PUT DELETE MKCOL COPY MOVE;
           dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
           dav_ext_lock zone=locks;
           create_full_put_path on;
         }
       }
     }`,
  )
  await mkdir(join(files, 'dav'))
  const url = `http://127.0.0.1:${port}`
  await started(life, url, 'nginx', ['-p', folder, '-e', 'stderr', '-c', configuration])
  return { url, files, accessLog: join(folder, 'access.log') }
}

/** Vite's development server on a page that accepts hot updates of its module. */
export async function startVite(life: AsyncDisposableStack) {
  const folder = await temporaryFolder(life)
  const module = join(folder, 'main.js')
  const says = (text: string) =>
    writeFile(
      module,
      `export const text = ${JSON.stringify(text)}
document.querySelector('h1').textContent = text
if (import.meta.hot) import.meta.hot.accept()
`,
    )
  await says('first')
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><h1>nothing yet</h1><script type="module" src="/main.js"></script>',
  )
  const port = await freeTcpPort()
  const vite = join(HERE, '../../node_modules/vite/bin/vite.js')
  const args = [vite, folder, '--host', '127.0.0.1', '--port', String(port), '--strictPort']
  const url = `http://127.0.0.1:${port}`
  await started(life, url, process.execPath, args)
  return { url, says }
}

/** TigerVNC's server with a red screen, and Debian's noVNC behind websockify. */
export async function startVnc(life: AsyncDisposableStack) {
  const [screenPort, port] = [await freeTcpPort(), await freeTcpPort()]
  const display = `:${screenPort}`
  const geometry = ['-geometry', '640x480', '-depth', '24']
  const screen = await startChild('Xvnc', [
    display,
    '-rfbport',
    String(screenPort),
    '-SecurityTypes',
    'None',
    '-localhost',
    ...geometry,
  ])
  life.defer(async () => void (await screen.stop()))
  const onScreen = (command: string, args: string[]) =>
    run(command, args, { env: { ...process.env, DISPLAY: display } }).then(({ stdout }) => stdout)
  await waitFor(() => onScreen('xsetroot', ['-solid', 'red']).then(() => true), { for: 'the screen' })
  const url = `http://127.0.0.1:${port}`
  const args = ['--web', NOVNC_FILES, `127.0.0.1:${port}`, `127.0.0.1:${screenPort}`]
  await started(life, `${url}/vnc.html`, 'websockify', args)
  return {
    url,
    async pointer(): Promise<{ x: number; y: number }> {
      const [, x, y] = /X=(\d+)\s+Y=(\d+)/.exec(await onScreen('xdotool', ['getmouselocation', '--shell'])) ?? []
      return { x: Number(x), y: Number(y) }
    },
  }
}

/** Python's file server, which speaks HTTP/1.0. */
export async function startOldServer(life: AsyncDisposableStack) {
  const folder = await temporaryFolder(life)
  await writeFile(join(folder, 'pears.txt'), 'pears\n'.repeat(50_000))
  const port = await freeTcpPort()
  const url = `http://127.0.0.1:${port}`
  const args = ['-m', 'http.server', String(port), '--bind', '127.0.0.1', '--directory', folder]
  await started(life, url, 'python3', args)
  return { url }
}

/** A gRPC service of connect-node, and a page with Google's grpc-web and connect-web, bundled. */
export async function startGrpcWeb(life: AsyncDisposableStack) {
  const folder = await installed('grpc-web', [
    '@bufbuild/protobuf@2.17.0',
    '@connectrpc/connect@2.1.2',
    '@connectrpc/connect-node@2.1.2',
    '@connectrpc/connect-web@2.1.2',
    'grpc-web@2.1.1',
    'google-protobuf@4.0.3',
  ])
  for (const name of ['server.js', 'client.js', 'trees.js'])
    await copyFile(join(HERE, 'grpc-web', name), join(folder, name.replace('.js', '.mjs')))
  const rolldown = join(HERE, '../../node_modules/rolldown/bin/cli.mjs')
  await run(process.execPath, [rolldown, 'client.mjs', '--file', 'bundle.js', '--format', 'esm'], { cwd: folder })
  const port = await freeTcpPort()
  const url = `http://127.0.0.1:${port}`
  await started(life, url, 'env', ['-C', folder, process.execPath, 'server.mjs', String(port)])
  return { url }
}

/**
 * code-server, which is VS Code in a browser, on a folder of its own. It runs on one version of Node, for which its
 * native modules are compiled; all but Kerberos, which it does without.
 */
export async function startCodeServer(life: AsyncDisposableStack) {
  const node = `node-linux-${process.arch}`
  const folder = await installed('code-server', [`${node}@24.21.0`, 'code-server@4.139.1'], async (into) => {
    const own = join(into, 'node_modules', node)
    const env = { ...process.env, PATH: `${own}/bin:${process.env['PATH']}`, npm_config_nodedir: own }
    const code = join(into, 'node_modules/code-server/lib/vscode')
    await run('npm', ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'], { cwd: code, env })
    const native = ['node-pty', '@vscode/spdlog', 'native-watchdog', '@parcel/watcher']
    await run('npm', ['rebuild', ...native], { cwd: code, env })
    await run('npm', ['rebuild', 'argon2'], { cwd: into, env })
  })
  const [opened, own] = [await temporaryFolder(life), await temporaryFolder(life)]
  await writeFile(join(opened, 'trees.txt'), 'seven trees\n')
  const port = await freeTcpPort()
  const url = `http://127.0.0.1:${port}`
  const server = [join(folder, 'node_modules/code-server/out/node/entry.js'), '--bind-addr', `127.0.0.1:${port}`]
  const places = [
    '--user-data-dir',
    own,
    '--extensions-dir',
    own,
    '--config',
    join(own, 'config.yaml'),
    '--auth',
    'none',
  ]
  const quiet = ['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust']
  await started(life, `${url}/healthz`, join(folder, 'node_modules', node, 'bin/node'), [
    ...server,
    ...places,
    ...quiet,
    opened,
  ])
  return { url, folder: opened }
}

/** Node-RED with one flow: its editor gets everything that happens over a WebSocket. */
export async function startNodeRed(life: AsyncDisposableStack) {
  const [folder, userDir] = [await installed('node-red', ['node-red@5.0.7']), await temporaryFolder(life)]
  const port = await freeTcpPort()
  const settings = join(userDir, 'settings.js')
  const inject = { type: 'inject', props: [{ p: 'payload' }], payload: 'ripe', payloadType: 'str', wires: [['debug1']] }
  const debug = { type: 'debug', active: true, tosidebar: true, complete: 'payload', wires: [] }
  const flow = [
    { id: 'tab1', type: 'tab', label: 'Orchard' },
    { id: 'inject1', z: 'tab1', x: 200, y: 100, ...inject },
    { id: 'debug1', z: 'tab1', x: 400, y: 100, ...debug },
  ]
  await writeFile(join(userDir, 'flows.json'), JSON.stringify(flow))
  await writeFile(
    settings,
    'module.exports = { flowFile: "flows.json", uiHost: "127.0.0.1", telemetry: { enabled: false }, editorTheme: ' +
      '{ tours: false } }',
  )
  const url = `http://127.0.0.1:${port}`
  const red = join(folder, 'node_modules/node-red/red.js')
  await started(life, url, process.execPath, [red, '-s', settings, '-u', userDir, '-p', String(port)])
  return { url }
}
