/** Lines of gateway.yaml, to copy below `deterrents:`, for the kinds that no form writes. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  http: `  valve:
    driver: http
    "on": { url: "http://192.168.1.20/relay/0?turn=on&timer={seconds}" }
    "off": { url: "http://192.168.1.20/relay/0?turn=off" }
    seconds: 10
    coolDownSeconds: 30
    secondsADay: 600
`,
  command: `  valve:
    driver: command
    "on": [/usr/local/bin/valve, open]
    "off": [/usr/local/bin/valve, close]
    seconds: 10
    coolDownSeconds: 30
    secondsADay: 600
`,
}
