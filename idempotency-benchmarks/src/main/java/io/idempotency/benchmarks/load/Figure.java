package io.idempotency.benchmarks.load;

import java.util.List;

/**
 * A ratio of two orders to the client, each a path and its keys.
 *
 * @param name what it says
 * @param measured what is measured
 * @param base what it is measured by
 */
record Figure(String name, String measured, String base) {

	private static final Figure FRESH = new Figure("fresh ÷ unguarded", "/guarded FRESH", "/plain FRESH");

	private static final Figure REPLAY = new Figure("replay ÷ unguarded", "/guarded REPLAY", "/plain REPLAY");

	static List<Figure> of(String store) {
		return switch (store) {
			case "memory" -> List.of(FRESH, REPLAY);
			case "redis" -> List.of(FRESH, REPLAY,
					new Figure("fresh ÷ unguarded with two raw commands", "/guarded FRESH", "/raw FRESH"),
					new Figure("two raw commands ÷ unguarded", "/raw FRESH", "/plain FRESH"),
					new Figure("replay ÷ one raw command and no handler", "/guarded REPLAY", "/raw-replay REPLAY"),
					new Figure("one raw command and no handler ÷ unguarded", "/raw-replay REPLAY", "/plain REPLAY"));
			case "jdbc" -> List.of(
					new Figure("JOIN, fresh ÷ the same transaction", "/joined FRESH", "/transaction FRESH"),
					new Figure("JOIN, replay ÷ the same transaction", "/joined REPLAY", "/transaction REPLAY"),
					new Figure("SEPARATE, fresh ÷ the same transaction", "/separate FRESH", "/transaction FRESH"),
					new Figure("SEPARATE, replay ÷ the same transaction", "/separate REPLAY", "/transaction REPLAY"));
			case EndToEnd.OBSERVED ->
				List.of(new Figure("fresh, with metrics ÷ without", "/guarded FRESH", "/guarded FRESH"),
						new Figure("replay, with metrics ÷ without", "/guarded REPLAY", "/guarded REPLAY"));
			case EndToEnd.UNTOUCHED ->
				List.of(new Figure("without annotation, starter ÷ no starter", "/plain FRESH", "/plain FRESH"));
			default -> throw new IllegalArgumentException("No figures for the store '" + store + "'");
		};
	}

}
