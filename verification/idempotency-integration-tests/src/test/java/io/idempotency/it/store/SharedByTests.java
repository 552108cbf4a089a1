package io.idempotency.it.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What the tests of one round of {@link EachVariant} share: opened for the first of them,
 * closed after the last. Thread-safe.
 */
public abstract class SharedByTests implements AutoCloseable {

	private final Map<String, AutoCloseable> shared = new LinkedHashMap<>();

	/**
	 * Shares something.
	 * @param <T> its type
	 * @param name what the tests call it
	 * @param open makes it for the first of them
	 * @return the same for all of them
	 */
	@SuppressWarnings("unchecked")
	public final synchronized <T extends AutoCloseable> T share(String name, Supplier<T> open) {
		T value = (T) this.shared.get(name);
		if (value == null) {
			value = open.get();
			this.shared.put(name, value);
		}
		return value;
	}

	/**
	 * Does something before the first of them.
	 * @param name what the tests call it
	 * @param preparation what
	 */
	public final void once(String name, Runnable preparation) {
		share(name, () -> {
			preparation.run();
			return () -> {
				// nothing is open
			};
		});
	}

	@Override
	public synchronized void close() throws Exception {
		// A pool comes before what uses it.
		List<AutoCloseable> last = new ArrayList<>(this.shared.values());
		Collections.reverse(last);
		for (AutoCloseable each : last) {
			each.close();
		}
	}

}
