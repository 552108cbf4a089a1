package io.idempotency.proofs.history;

import java.util.ArrayList;
import java.util.List;

/**
 * All that has to do with one key, in the order of time.
 *
 * @param key the key
 * @param runs its runs
 * @param calls its calls
 * @param effects the runs whose work is committed
 */
record KeyHistory(String key, List<Run> runs, List<Call> calls, List<String> effects) {

	KeyHistory(String key, List<String> effects) {
		this(key, new ArrayList<>(), new ArrayList<>(), effects);
	}

	Operation operation() {
		return this.calls.get(0).operation();
	}

}
