package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.idempotency.it.servers.OtherJvm;

/** The application, and the client that puts it under load. */
final class LoadedServer implements AutoCloseable {

	private final RunningApplication application;

	private final OtherProcess client;

	private final Set<String> warm = new HashSet<>();

	private LoadedServer(RunningApplication application, OtherProcess client) {
		this.application = application;
		this.client = client;
	}

	static LoadedServer start(Jdk jdk, OtherJvm.Stack stack, List<String> arguments, int bodySize) throws IOException {
		RunningApplication application = RunningApplication.start(jdk, stack, arguments);
		return new LoadedServer(application, OtherProcess.java(Jdk.current(), System.getProperty("java.class.path"),
				LoadClient.class,
				List.of(Integer.toString(application.port()), Integer.toString(Settings.CONNECTIONS), "" + bodySize)));
	}

	/** Runs it for a while, the first time that it is asked for. */
	void warmUp(String order, long millis) throws IOException {
		if (this.warm.add(order)) {
			run(order, millis);
		}
	}

	Turn run(String order, long millis) throws IOException {
		RunningApplication.Usage before = this.application.usage();
		this.client.send(order + " " + millis);
		String[] answer = this.client.line().split(" ");
		RunningApplication.Usage after = this.application.usage();
		double requests = Double.parseDouble(answer[0]);
		return new Turn(requests, Double.parseDouble(answer[1]) / 1e9, (after.nanos() - before.nanos()) / requests,
				(after.bytes() - before.bytes()) / requests, Double.parseDouble(answer[2]) / 1e6,
				Double.parseDouble(answer[3]) / 1e6);
	}

	@Override
	public void close() {
		this.client.close();
		this.application.close();
	}

	/**
	 * What one variant did in its turn.
	 *
	 * @param requests how many
	 * @param seconds how long they took
	 * @param cost the server's processor time for one request
	 * @param bytes what the server allocates for one request
	 * @param median the milliseconds of the median request
	 * @param slow the milliseconds that a hundredth of the requests exceeds
	 */
	record Turn(double requests, double seconds, double cost, double bytes, double median, double slow) {

		double rate() {
			return this.requests / this.seconds;
		}

	}

}
