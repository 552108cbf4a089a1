package io.idempotency.it.message;

import java.util.concurrent.CountDownLatch;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;

/**
 * The work of a consumer in a JVM of its own. One consumer never ends its work on
 * {@link #MORTAL}, and is to be killed in the middle of it.
 */
class WorkerTask {

	/** The first consumer of this message never ends. */
	static final String MORTAL = "mortal";

	/** Said by the consumer that does not end. */
	static final String BEGAN = "began";

	static final String DID = "did";

	/** Said by a consumer that found what another one did. */
	static final String FOUND = "found";

	private final EffectLog effects;

	private final String node;

	WorkerTask(EffectLog effects, @Value("${test.node}") String node) {
		this.effects = effects;
		this.node = node;
	}

	/** Nobody can tell whether a consumer that died here has done its work. */
	void work(String payload) throws InterruptedException {
		if (payload.equals(MORTAL) && this.effects.lines().stream().noneMatch((line) -> line.contains(BEGAN))) {
			add(BEGAN, payload);
			neverEnd();
		}
		add(DID, payload);
	}

	/**
	 * The consumer that is to be killed has done this work and does not come back from
	 * it.
	 */
	void workThatIsKept(String payload) throws InterruptedException {
		add(DID, payload);
		if (this.effects.lines().contains(line(this.node, BEGAN, MORTAL))) {
			neverEnd();
		}
	}

	/** Looks the work up that is kept. */
	@Nullable String find(String payload) {
		if (this.effects.lines().stream().noneMatch((line) -> line.endsWith(line("", DID, payload)))) {
			return null;
		}
		add(FOUND, payload);
		return payload;
	}

	private void add(String verb, String payload) {
		this.effects.add(line(this.node, verb, payload));
	}

	static String line(String node, String verb, String payload) {
		return node + " " + verb + " " + payload;
	}

	private static void neverEnd() throws InterruptedException {
		new CountDownLatch(1).await();
	}

}
