package io.idempotency.it.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/**
 * Ports that nobody listens on: below the range that the system hands to outgoing
 * connections, and each one once in this JVM.
 */
public final class FreePorts {

	private static final int FIRST = 12_000;

	/** The bus of a Redis Cluster node listens here too. */
	private static final int CLUSTER_BUS_OFFSET = 10_000;

	/** So that no port is another one's bus. */
	private static final int COUNT = CLUSTER_BUS_OFFSET;

	/** The JVMs that run tests side by side take every second port. */
	private static final int JVMS = 2;

	private static final int JVM = Integer.getInteger("test.jvm", 0) % JVMS;

	private static final Random RANDOM = new Random();

	private static final Set<Integer> TAKEN = new HashSet<>();

	private FreePorts() {
	}

	/**
	 * Takes a port; the one that is 10,000 higher is free too.
	 * @return the port
	 */
	public static synchronized int next() {
		for (int attempt = 0; attempt < 1000; attempt++) {
			int port = FIRST + JVM + JVMS * RANDOM.nextInt(COUNT / JVMS);
			if (!TAKEN.contains(port) && isFree(port) && isFree(port + CLUSTER_BUS_OFFSET)) {
				TAKEN.add(port);
				return port;
			}
		}
		throw new IllegalStateException("No free port found");
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket()) {
			socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
			return true;
		}
		catch (IOException taken) {
			return false;
		}
	}

}
