/** The task of `wrk`, as a script in Lua. */
export type WrkTask = {
  method?: 'GET' | 'PUT'
  path: string
  bodyBytes?: number
  connections: number
  seconds: number
}

/** `errors` are answers other than 2xx, and requests without one. */
export type WrkResult = {
  requests: number
  bytes: number
  seconds: number
  errors: number
  medianMs: number
  p99Ms: number
}

/** What the hub lets one session have open. */
const OPEN_PER_SESSION = 256

/**
 * All requests of a connection carry one cookie, as a browser's do, as long as one session may have so many open; then
 * they take several in turn.
 */
export function wrkScript(
  { method = 'GET', path, bodyBytes = 0, connections }: WrkTask,
  { host, cookies }: { host: string; cookies: readonly string[] },
): string {
  const body = bodyBytes > 0 ? `string.rep("y", ${bodyBytes})` : 'nil'
  const sessions = Math.ceil(connections / OPEN_PER_SESSION)
  return `
local cookies = { ${cookies
    .slice(0, sessions)
    .map((cookie) => JSON.stringify(cookie))
    .join(', ')} }
local requests = {}
local turn = 0
function init(args)
  for i, cookie in ipairs(cookies) do
    local headers = { Host = ${JSON.stringify(host)}, Cookie = cookie, Accept = "*/*" }
    requests[i] = wrk.format(${JSON.stringify(method)}, ${JSON.stringify(path)}, headers, ${body})
  end
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
function done(summary, latency)
  local e = summary.errors
  local errors = e.connect + e.read + e.write + e.status + e.timeout
  print(string.format('result {"requests":%d,"bytes":%d,"seconds":%f,"errors":%d,"medianMs":%f,"p99Ms":%f}',
    summary.requests, summary.bytes, summary.duration / 1e6, errors,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
`
}
