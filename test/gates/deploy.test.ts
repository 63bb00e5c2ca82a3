import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { readConfig } from '../../apps/hub/src/read-config.ts'

/**
 * The files in deploy/ start the image of this version, hardened as the image allows, with variables that the hub
 * knows.
 */
const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, 'deploy', path), 'utf8')
const IMAGE = `localhost/hedgerow-hub:${manifest.version}`
const USER = '10001'

type Compose = { services: Record<string, Record<string, unknown> & { environment: Record<string, string> }> }
type Container = {
  image: string
  env: { name: string; value: string }[]
  ports: { containerPort: number }[]
  securityContext: object
  volumeMounts: { mountPath: string }[]
}
type StatefulSet = { kind: string; spec: { replicas: number; template: { spec: Record<string, unknown> } } }

/** The variables of a file, with its `${NAME:?text}` filled in. */
function accepted(environment: Record<string, string>): void {
  const filled = Object.entries(environment).map(([name, value]) => [
    name,
    value.replaceAll(
      /\$\{(\w+)(:\?[^}]*)?\}/g,
      (_, of: string) => `${of.toLowerCase().replaceAll('_', '-')}.example.net`,
    ),
  ])
  readConfig(Object.fromEntries(filled) as Record<string, string>)
}

describe.each(['compose/compose.yaml', 'compose/compose.caddy.yaml'])('deploy/%s', (path) => {
  const { hub } = (parse(read(path)) as Compose).services
  it('runs the image of this version on a read-only root, without capabilities', () => {
    expect(hub).toMatchObject({
      image: IMAGE,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      volumes: ['data:/data'],
    })
  })
  it('sets variables that the hub accepts', () => {
    expect(() => accepted(hub!.environment)).not.toThrow()
    expect(() => accepted({ ...hub!.environment, HUB_NONE: 'x' })).toThrow('HUB_NONE')
  })
})

it('the addition for PostgreSQL sets variables that the hub accepts', () => {
  const { hub } = (parse(read('compose/compose.postgresql.yaml')) as Compose).services
  const folder = mkdtempSync(join(tmpdir(), 'compose-'))
  try {
    writeFileSync(join(folder, 'database-url'), 'postgres://hedgerow:secret@database/hedgerow\n')
    expect(hub!.environment['HUB_DATABASE_URL_FILE']).toBe('/run/secrets/database-url')
    accepted({ HUB_DATABASE_URL_FILE: join(folder, 'database-url') })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** The compiler's errors about objects of Kubernetes: each must have all its fields, of their types, and no others. */
function kubernetesErrors(objects: readonly { apiVersion: string; kind: string }[]): string[] {
  const types = join(ROOT, 'node_modules/kubernetes-types')
  const lines = objects.map((object, index) => {
    const group = object.apiVersion === 'v1' ? 'core/v1' : object.apiVersion.replace('.k8s.io', '')
    const type = `import('${types}/${group}').${object.kind}`
    return `export const object${index}: ${type} = ${JSON.stringify(object)}`
  })
  const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'))
  try {
    const file = join(folder, 'objects.ts')
    writeFileSync(file, lines.join('\n'))
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', '']
    const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, file], { encoding: 'utf8' })
    return stdout.split('\n').filter((line) => line.includes('error'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('deploy/kubernetes/hub.yaml', () => {
  const documents = parseAllDocuments(read('kubernetes/hub.yaml')).map((document) => document.toJS() as StatefulSet)
  const set = documents.find(({ kind }) => kind === 'StatefulSet')!
  const pod = set.spec.template.spec as { containers: Container[] } & Record<string, unknown>
  const [container] = pod.containers

  it('runs one hub, hardened as the profile "restricted" asks', () => {
    expect(documents.map(({ kind }) => kind)).toEqual(['StatefulSet', 'Service', 'Service', 'Ingress'])
    expect(set.spec.replicas).toBe(1)
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: Number(USER), seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container).toMatchObject({
      image: IMAGE,
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      volumeMounts: [{ mountPath: '/data' }],
    })
  })
  it('has the fields of the API of Kubernetes, and no others', () => {
    const objects = documents as unknown as { apiVersion: string; kind: string; spec: object }[]
    const [whole] = objects
    const wrong = [{ replicas: '1' }, { serviceNames: 'hub' }].map((field) => ({
      ...whole!,
      spec: { ...whole!.spec, ...field },
    }))
    // Each object is a line.
    expect(kubernetesErrors([...objects, ...wrong])).toEqual([
      expect.stringMatching(/objects\.ts\(5,.*'string' is not assignable to type 'number'/),
      expect.stringMatching(/objects\.ts\(6,.*'"serviceNames"' does not exist/),
    ])
  })
  it('sets variables that the hub accepts', () => {
    const variables = Object.fromEntries(container!.env.map(({ name, value }) => [name, value]))
    expect(() => accepted(variables)).not.toThrow()
  })
})

it.each(globSync('images/*.Containerfile', { cwd: join(ROOT, 'deploy') }))(
  '%s starts from an empty image, as an ordinary user with one volume and a health check',
  (path) => {
    const lines = read(path).split('\n')
    expect(lines).toEqual(expect.arrayContaining(['FROM scratch', `USER ${USER}:${USER}`, 'VOLUME /data']))
    expect(lines.filter((line) => line.startsWith('HEALTHCHECK '))).toHaveLength(1)
  },
)
