/**
 * Preloaded into a child with a process group of its own: when its starter was killed, the channel between them closes,
 * and the child ends as if it had got SIGTERM.
 */
process.channel?.unref()
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
