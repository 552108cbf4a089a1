package io.idempotency.it.redis;

import java.net.URI;

import io.idempotency.it.store.NodeCaller;
import io.idempotency.it.store.StoreNode;

/**
 * A node that may live by another clock.
 */
final class RedisShiftedCaller extends NodeCaller {

	@Override
	protected StoreNode<?> node(String url, String user) {
		return new Node(RedisClients.jedis(URI.create(url).getPort()));
	}

}
