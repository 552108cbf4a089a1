package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.idempotency.benchmarks.application.LoadApplication;
import io.idempotency.it.servers.OtherJvm;

/** The application in a process of its own. */
final class RunningApplication implements AutoCloseable {

	private final OtherProcess process;

	private final int port;

	private RunningApplication(OtherProcess process, int port) {
		this.process = process;
		this.port = port;
	}

	/** Starts it, and waits until it listens. */
	static RunningApplication start(Jdk jdk, OtherJvm.Stack stack, List<String> arguments) throws IOException {
		OtherProcess process = OtherProcess.java(jdk, Peer.classPath(stack.classPath(), arguments),
				LoadApplication.class, arguments);
		return new RunningApplication(process, Integer.parseInt(process.lineWith("port ").substring("port ".length())));
	}

	int port() {
		return this.port;
	}

	/** What it has used up. */
	Usage usage() throws IOException {
		try (InputStream in = URI.create("http://127.0.0.1:" + this.port + "/meter").toURL().openStream()) {
			String[] values = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ");
			return new Usage(Long.parseLong(values[0]), Long.parseLong(values[1]), Long.parseLong(values[2]));
		}
	}

	@Override
	public void close() {
		this.process.close();
	}

	/**
	 * What it has used up since it began.
	 *
	 * @param nanos of processors
	 * @param bytes that were allocated
	 * @param compiling milliseconds of the compiler
	 */
	record Usage(long nanos, long bytes, long compiling) {
	}

}
