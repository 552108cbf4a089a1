package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

import io.idempotency.it.servers.OtherJvm;

/** The application, and the client that puts it under load. */
final class LoadedServer implements AutoCloseable {

	private static final int WARM_UP_TURN_MILLIS = 1000;

	/** Few, so that they leave the compiler its part of the processors. */
	private static final int WARM_UP_CONNECTIONS = 2;

	/** The part of a turn that the compiler of a warm server takes at most. */
	private static final double COMPILING = 0.05;

	/** A large method may be compiled for longer than a turn, and counts at its end. */
	private static final int QUIET_ROUNDS = 2;

	private final RunningApplication application;

	private final OtherProcess client;

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

	/**
	 * Runs orders in turn until the compiler has nothing left to do for any of them. What
	 * is not compiled yet takes several times as long, and a guarded request longer than
	 * others, because it has more code.
	 * @param orders all that will be measured
	 * @param most how long it may take
	 * @param page is told how long it took
	 */
	void warmUp(List<String> orders, Duration most, Page page) throws IOException {
		long begin = System.nanoTime();
		int quiet = 0;
		while (quiet < QUIET_ROUNDS && System.nanoTime() - begin < most.toNanos()) {
			double compiling = 0;
			for (String order : orders) {
				compiling = Math.max(compiling, run(order, WARM_UP_TURN_MILLIS, WARM_UP_CONNECTIONS).compiling());
			}
			quiet = (compiling <= COMPILING) ? quiet + 1 : 0;
		}
		page.warmedUp((System.nanoTime() - begin) / 1e9, quiet == QUIET_ROUNDS);
	}

	Turn run(String order, long millis) throws IOException {
		return run(order, millis, Settings.CONNECTIONS);
	}

	private Turn run(String order, long millis, int connections) throws IOException {
		RunningApplication.Usage before = this.application.usage();
		this.client.send(order + " " + millis + " " + connections);
		String[] answer = this.client.line().split(" ");
		RunningApplication.Usage after = this.application.usage();
		double requests = Double.parseDouble(answer[0]);
		return new Turn(requests, Double.parseDouble(answer[1]) / 1e9, (after.nanos() - before.nanos()) / requests,
				(after.bytes() - before.bytes()) / requests, Double.parseDouble(answer[2]) / 1e6,
				Double.parseDouble(answer[3]) / 1e6, (double) (after.compiling() - before.compiling()) / millis);
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
	 * @param compiling the part of the time that the server's compiler took
	 */
	record Turn(double requests, double seconds, double cost, double bytes, double median, double slow,
			double compiling) {

		double rate() {
			return this.requests / this.seconds;
		}

	}

}
