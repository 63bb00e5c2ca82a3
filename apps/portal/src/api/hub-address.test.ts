import { expect, it } from 'vitest'
import { addressForDevices } from './hub-address.ts'

it.each(['http://localhost:8080', 'https://hub.localhost', 'http://127.0.0.1:8080', 'http://[::1]:8080'])(
  'warns that other devices cannot use %s',
  (url) => {
    expect(addressForDevices(url)).toContain(`can reach the hub at ${new URL(url).host}.`)
  },
)

it.each(['http://hub.lan:8080', 'https://192.168.1.7:8443', 'http://[fd00::1]:8080', 'https://localhost.example'])(
  'has no warning for %s',
  (url) => {
    expect(addressForDevices(url)).toBeUndefined()
  },
)
