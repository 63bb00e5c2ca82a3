import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The files for Prometheus and Grafana use only metrics that docs/operations/metrics.md lists. */
const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const listed = new Set(
  [...read('docs/operations/metrics.md').matchAll(/^\| `(hedgerow_\w+)` \|/gm)].map(([, name]) => name!),
)

describe.each(['deploy/prometheus-rules.yaml', 'deploy/grafana-dashboard.json'])('%s', (path) => {
  it('query metrics that the hub has', () => {
    const asked = [...read(path).matchAll(/\bhedgerow_\w+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''))
    expect(asked.length).toBeGreaterThan(5)
    expect(asked.filter((name) => !listed.has(name))).toEqual([])
  })
})

it('promtool accepts the rules (skipped where it is not installed)', ({ skip }) => {
  const checked = spawnSync('promtool', ['check', 'rules', join(ROOT, 'deploy/prometheus-rules.yaml')], {
    encoding: 'utf8',
  })
  if (checked.error) skip('skipped: promtool is not installed')
  expect(checked.stdout + checked.stderr).toMatch(/SUCCESS: \d+ rules found/)
  expect(checked.status).toBe(0)
})

it('promtool understands the queries of the dashboard (skipped where it is not installed)', ({ skip }) => {
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as { panels: { targets: { expr: string }[] }[] }
  const rules = panels.flatMap(({ targets }) => targets).map(({ expr }, index) => ({ record: `panel:${index}`, expr }))
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'))
  try {
    // JSON is YAML.
    writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    const checked = spawnSync('promtool', ['check', 'rules', join(folder, 'rules.yaml')], { encoding: 'utf8' })
    if (checked.error) skip('skipped: promtool is not installed')
    expect(checked.stdout + checked.stderr).toContain(`SUCCESS: ${rules.length} rules found`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('every panel of the dashboard queries the chosen Prometheus and has a place of its own', () => {
  type Panel = { id: number; gridPos: { x: number; y: number }; datasource: { uid: string }; targets: unknown[] }
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as { panels: Panel[] }
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length)
  for (const { datasource, targets } of panels)
    expect([datasource.uid, targets.length > 0]).toEqual(['${datasource}', true])
})
