/**
 * Runs once before the hub's tests: starts the run's one PostgreSQL, and makes the databases of each engine that tests
 * copy instead of migrating their own (databases.ts).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { openCertificates } from '../src/certificates/certificates.ts'
import { openDatabase } from '../src/database/database.ts'
import { readConfig } from '../src/read-config.ts'
import { runStatement, startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The bytes, in base64, of the files of two databases. */
    sqlite: Record<Template, string>
    /** The folder of the server, whose two databases are called as the templates; undefined in a run without it. */
    postgres: { folder: string } | undefined
  }
}

/** Migrated and without rows; or with the certificates of a hub, whose making takes a fifth of its start. */
export type Template = 'migrated' | 'certified'
const TEMPLATES: readonly Template[] = ['migrated', 'certified']

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  project.provide('sqlite', { migrated: await makeFile('migrated'), certified: await makeFile('certified') })
  if (process.env['TEST_ENGINES'] === 'sqlite') return undefined
  const server = await startPostgres()
  for (const template of TEMPLATES) {
    await runStatement(server.url('postgres'), `create database ${template}`)
    await make(template, server.url(template))
  }
  project.provide('postgres', { folder: server.folder })
  return server.stop
}

async function makeFile(template: Template): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-template-'))
  try {
    const file = join(folder, 'hub.sqlite')
    await make(template, `sqlite:${file}`)
    return readFileSync(file, 'base64')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function make(template: Template, url: string): Promise<void> {
  const { db, close } = await openDatabase({ url })
  if (template === 'certified') {
    const log = pino({ level: 'silent' })
    const certificates = await openCertificates({ db, config: readConfig({}), clock: Date.now, log })
    await certificates.stop()
  }
  await close()
}
