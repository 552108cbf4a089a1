package io.idempotency.proofs.fuzz;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import net.jqwik.api.Shrinkable;
import net.jqwik.api.sessions.JqwikSession;
import org.jspecify.annotations.Nullable;

/**
 * Sessions, one for each seed, over the connections of several workers. A session that
 * violates something is made smaller before it is told.
 */
final class FuzzRun {

	private static final int WORKERS = 3;

	private static final int GEN_SIZE = 1000;

	/** How many smaller sessions are tried. */
	private static final int SHRINKS = 400;

	private static final int MAX_FAILURES = 5;

	private final int port;

	private final Tally tally;

	private final AtomicLong requests = new AtomicLong();

	/** The smallest session for each rule. */
	private final Map<String, String> failures = new ConcurrentHashMap<>();

	FuzzRun(int port, Tally tally) {
		this.port = port;
		this.tally = tally;
	}

	/**
	 * Runs the sessions of one seed after the other until enough requests were sent.
	 * @param seed the first seed
	 * @param enough how many requests
	 * @return the seed behind the last one
	 */
	long run(long seed, long enough) throws InterruptedException, ExecutionException {
		AtomicLong seeds = new AtomicLong(seed);
		long end = this.requests.get() + enough;
		ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
		try {
			List<Future<?>> futures = new ArrayList<>();
			for (int i = 0; i < WORKERS; i++) {
				futures.add(workers.submit(() -> {
					work(seeds, end);
					return null;
				}));
			}
			for (Future<?> future : futures) {
				future.get();
			}
		}
		finally {
			workers.shutdownNow();
		}
		return seeds.get();
	}

	/** How many requests were sent to guarded handlers. */
	long requests() {
		return this.requests.get();
	}

	/** The smallest sessions that violate something. */
	Collection<String> failures() {
		return this.failures.values();
	}

	private void work(AtomicLong seeds, long end) throws IOException {
		try (Connections connections = new Connections(this.port)) {
			while (this.requests.get() < end && this.failures.size() < MAX_FAILURES) {
				long seed = seeds.getAndIncrement();
				Violation violation = run(steps(seed), connections);
				if (violation != null && this.failures.putIfAbsent(violation.rule(), "") == null) {
					JqwikSession.run(() -> this.failures.put(violation.rule(),
							"Seed " + seed + ": " + smallest(session(seed), violation)));
				}
			}
		}
	}

	/** One at a time, since jqwik has one session in each virtual machine. */
	private static List<Step> steps(long seed) {
		AtomicReference<List<Step>> steps = new AtomicReference<>(List.of());
		JqwikSession.run(() -> steps.set(session(seed).value()));
		return steps.get();
	}

	private static Shrinkable<List<Step>> session(long seed) {
		return Step.sessions().generator(GEN_SIZE, false).next(new Random(seed));
	}

	private @Nullable Violation run(List<Step> steps, Connections connections) throws IOException {
		try {
			this.requests.addAndGet(new Session(connections, this.tally).run(steps));
			return null;
		}
		catch (Violation ex) {
			return ex;
		}
	}

	private String smallest(Shrinkable<List<Step>> session, Violation violation) throws IOException {
		Shrinkable<List<Step>> smallest = session;
		Violation last = violation;
		int[] left = { SHRINKS };
		try (Connections connections = new Connections(this.port)) {
			boolean smaller = true;
			while (smaller) {
				Violation[] found = new Violation[1];
				Optional<Shrinkable<List<Step>>> next = smallest.shrink().limit(left[0]).filter((candidate) -> {
					left[0]--;
					found[0] = repeat(candidate.value(), connections);
					return found[0] != null && found[0].rule().equals(violation.rule());
				}).findFirst();
				smaller = next.isPresent() && left[0] > 0;
				if (next.isPresent()) {
					smallest = next.get();
					last = found[0];
				}
			}
		}
		return last.getMessage() + "\n(" + smallest.value().size() + " requests)";
	}

	private @Nullable Violation repeat(List<Step> steps, Connections connections) {
		try {
			return run(steps, connections);
		}
		catch (IOException ex) {
			return new Violation("connection", ex.toString());
		}
	}

}
