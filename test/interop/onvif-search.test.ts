/** The search for cameras by multicast, from a network of its own to cameras in another machine of it. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startOnvifCamera, type OnvifCamera } from '../../apps/gateway/testing/onvif-camera.ts'
import { createNetworkNamespace, type NetworkNamespace } from '../harness/network-namespace.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'apps', 'gateway', 'src', 'main.ts')
const DISCOVERY = { group: '239.255.255.250', discoveryPort: 3702 }

describe.skipIf(skipWithout('the search for cameras by multicast', 'root', 'command ip'))('a gateway', () => {
  let gateway: NetworkNamespace
  let cameras: OnvifCamera[]
  beforeAll(async () => {
    gateway = await createNetworkNamespace()
    const camera = { user: 'viewer', password: 'p@ss', address: gateway.hostAddress, ...DISCOVERY }
    cameras = [await startOnvifCamera(camera), await startOnvifCamera({ ...camera, lenses: 2 })]
  })
  afterAll(async () => {
    for (const camera of cameras ?? []) await camera.stop()
    await gateway?.remove()
  })

  /** Searches until both cameras have answered: on a busy machine one search may be too short. */
  const find = (password: string, isWhole: (text: string) => boolean) => {
    const command = [process.execPath, MAIN, 'cameras', 'find', '--user', 'viewer']
    const search = () =>
      gateway
        .run('env', [`CAMERA_PASSWORD=${password}`, ...command])
        .catch((error: { stdout: string; stderr: string }) => error.stdout + error.stderr)
    return waitFor(
      async () => {
        const text = await search()
        return isWhole(text) ? text : undefined
      },
      { for: 'both cameras', timeoutMs: 100_000 },
    )
  }

  test('finds the cameras of its network, also two behind one address, with a name for each lens', async () => {
    const namesIn = (text: string) => text.split('\n').flatMap((line) => /^  (camera-[\d-]+): /.exec(line)?.[1] ?? [])
    const text = await find('p@ss', (printed) => namesIn(printed).length > 2)
    const address = gateway.hostAddress.replaceAll('.', '-')
    const [one, two] = cameras.map(({ host }) => `camera-${address}-${host.split(':')[1]}`)
    expect(namesIn(text).toSorted()).toEqual([one, `${two}-1`, `${two}-2`].toSorted())
    expect(text).not.toContain('p@ss')
  })

  test('says that a camera refuses a wrong password', async () => {
    const refusals = (text: string) => text.match(/the camera refused the user or the password/g) ?? []
    expect(refusals(await find('wrong', (text) => refusals(text).length > 1))).toHaveLength(2)
  })
})
