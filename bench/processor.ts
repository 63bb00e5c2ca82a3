/** The processor time that a hub has used so far, by its own metrics on this port. */
export async function processorSeconds(metricsPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1])
}
