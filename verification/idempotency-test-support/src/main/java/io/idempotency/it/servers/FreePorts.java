package io.idempotency.it.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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

	/** Each of the JVMs that run tests side by side takes every eighth port. */
	private static final int JVMS = 8;

	private static final Random RANDOM = new Random();

	/** A lock is given up when nobody refers to its file any more. */
	private static final List<FileChannel> LOCKED = new ArrayList<>();

	private static final int JVM = share();

	private static final Set<Integer> TAKEN = new HashSet<>();

	private FreePorts() {
	}

	/**
	 * The first share that no other JVM of this machine has; the lock ends with the JVM.
	 */
	private static int share() {
		for (int share = 0; share < JVMS; share++) {
			Path file = Path.of(System.getProperty("java.io.tmpdir"), "idempotency-test-ports-" + share);
			try {
				FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
				if (channel.tryLock() != null) {
					LOCKED.add(channel);
					return share;
				}
				channel.close();
			}
			catch (IOException ofAnotherUser) {
				// Whoever that is may run tests, too.
				continue;
			}
		}
		return RANDOM.nextInt(JVMS);
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
