import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from './child-process.ts'
import { freeTcpPort } from './free-ports.ts'
import { waitFor } from './wait-for.ts'

/** The address from which nginx connects to the hub, so that a hub may trust nginx and not the rest of this machine. */
export const NGINX_ADDRESS = '127.0.0.2'

/** nginx in front of a hub as in docs/operations/tls.md, on loopback and without TLS. */
export async function startNginx(hubPort: number) {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-nginx-'))
  const port = await freeTcpPort()
  const file = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
     events {}
     http {
       access_log off;
       ${temporary.join('\n')}
       map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
       server {
         listen 127.0.0.1:${port};
         location / {
           proxy_pass http://127.0.0.1:${hubPort};
           proxy_bind ${NGINX_ADDRESS};
           proxy_http_version 1.1;
           proxy_set_header Host $http_host;
           proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
           proxy_set_header Upgrade $http_upgrade;
           proxy_set_header Connection $connection_upgrade;
           proxy_buffering off;
           proxy_request_buffering off;
         }
       }
     }`,
  )
  const child = await startChild('nginx', ['-p', folder, '-e', 'stderr', '-c', file])
  const isThere = async () => child.hasEnded() || (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  await waitFor(isThere, { for: 'nginx to serve' })
  if (child.hasEnded()) throw new Error(`nginx ended: ${child.output()}`)
  return {
    port,
    async stop() {
      await child.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
