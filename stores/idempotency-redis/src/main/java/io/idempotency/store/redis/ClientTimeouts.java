package io.idempotency.store.redis;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Finds out at start-up whether a client may keep a call waiting for longer than the
 * store allows. Lettuce never may, with any time-outs: see {@link LettuceScript}.
 */
final class ClientTimeouts {

	private static final Logger logger = LoggerFactory.getLogger(ClientTimeouts.class);

	private ClientTimeouts() {
	}

	static void warnOfLonger(RedisConnectionFactory connectionFactory, Duration storeTimeout) {
		if (ClassUtils.isPresent("redis.clients.jedis.Jedis", ClientTimeouts.class.getClassLoader())) {
			Jedis.warnOfLonger(connectionFactory, storeTimeout);
		}
	}

	/** A class of its own, because Jedis may be missing. */
	private static final class Jedis {

		private Jedis() {
		}

		static void warnOfLonger(RedisConnectionFactory connectionFactory, Duration storeTimeout) {
			if (!(connectionFactory instanceof JedisConnectionFactory jedis)) {
				return;
			}
			Map<String, Duration> longer = new LinkedHashMap<>();
			JedisClientConfiguration client = jedis.getClientConfiguration();
			longer.put("spring.data.redis.timeout", client.getReadTimeout());
			longer.put("spring.data.redis.connect-timeout", client.getConnectTimeout());
			client.getPoolConfig()
				.filter((pool) -> jedis.getUsePool() && pool.getBlockWhenExhausted())
				.ifPresent((pool) -> longer.put("spring.data.redis.jedis.pool.max-wait", pool.getMaxWaitDuration()));
			longer.values().removeIf((timeout) -> isBounded(timeout) && timeout.compareTo(storeTimeout) <= 0);
			if (!longer.isEmpty()) {
				logger.warn(
						"Jedis may keep a guarded call waiting for longer than idempotency.store-timeout ({} ms), "
								+ "and only its own time-outs can end that wait. Set {} to at most {}ms.",
						storeTimeout.toMillis(), String.join(" and ", longer.keySet()), storeTimeout.toMillis());
			}
		}

		/**
		 * Returns whether a time-out ends: zero means "for ever" to Jedis, and a negative
		 * time-out means "for ever" to a pool.
		 */
		private static boolean isBounded(Duration timeout) {
			return !timeout.isZero() && !timeout.isNegative();
		}

	}

}
