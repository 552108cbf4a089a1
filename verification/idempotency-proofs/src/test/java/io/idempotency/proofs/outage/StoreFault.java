package io.idempotency.proofs.outage;

import java.util.List;

import io.idempotency.it.servers.RedisServer;

/** How a Redis goes wrong, and what mends it. */
enum StoreFault {

	STOPPED {

		@Override
		void begin(RedisServer server) {
			server.kill();
		}

		@Override
		void end(RedisServer server) {
			server.restart();
		}

	},

	PAUSED {

		@Override
		void begin(RedisServer server) {
			server.pause();
		}

		@Override
		void end(RedisServer server) {
			server.resume();
		}

	},

	WRONG_PASSWORD {

		@Override
		List<String> prepare(RedisServer server) {
			server.command("ACL", "SETUSER", USER, "on", ">right", "~*", "&*", "+@all");
			return List.of("--spring.data.redis.username=" + USER, "--spring.data.redis.password=right");
		}

		/** Connections that were let in stay open, so they are cut. */
		@Override
		void begin(RedisServer server) {
			server.command("ACL", "SETUSER", USER, "resetpass", ">other");
			server.command("CLIENT", "KILL", "USER", USER);
		}

		@Override
		void end(RedisServer server) {
			server.command("ACL", "SETUSER", USER, "resetpass", ">right");
		}

	},

	FULL {

		@Override
		void begin(RedisServer server) {
			server.command("CONFIG", "SET", "maxmemory", "1");
		}

		@Override
		void end(RedisServer server) {
			server.command("CONFIG", "SET", "maxmemory", "0");
		}

	};

	private static final String USER = "orders";

	/**
	 * Prepares the server before the application starts.
	 * @param server the server
	 * @return properties of the application
	 */
	List<String> prepare(RedisServer server) {
		return List.of();
	}

	abstract void begin(RedisServer server);

	abstract void end(RedisServer server);

}
