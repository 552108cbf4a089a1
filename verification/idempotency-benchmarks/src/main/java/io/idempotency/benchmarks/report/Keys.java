package io.idempotency.benchmarks.report;

import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** Which keys requests have. */
enum Keys {

	/** Each request its own. */
	FRESH {

		@Override
		String next(LoadConnection connection, String path) {
			return random();
		}

	},

	/** All requests of a connection the same one. */
	REPLAY {

		@Override
		String next(LoadConnection connection, String path) {
			return connection.ownKey() + path.substring(1);
		}

	},

	/** Two of five requests repeat the one before. */
	DUPLICATES {

		@Override
		String next(LoadConnection connection, String path) {
			String last = connection.lastKey();
			return (last != null && ThreadLocalRandom.current().nextInt(5) < 2) ? last : random();
		}

	},

	/** All requests of all connections the same one. */
	HOT {

		@Override
		String next(LoadConnection connection, String path) {
			return PROCESS + path.substring(1);
		}

	};

	private static final String PROCESS = random();

	abstract String next(LoadConnection connection, String path);

	private static String random() {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		return new UUID(random.nextLong(), random.nextLong()).toString();
	}

}
