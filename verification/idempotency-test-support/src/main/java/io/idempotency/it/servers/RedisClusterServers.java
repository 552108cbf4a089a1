package io.idempotency.it.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster of three masters without replicas.
 */
public final class RedisClusterServers implements AutoCloseable {

	private static final int SLOTS = 16_384;

	private static final int MASTERS = 3;

	private final List<RedisServer> masters = new ArrayList<>();

	private RedisClusterServers() {
	}

	/**
	 * Starts three masters and waits until each knows all slots.
	 * @param binary their version
	 * @return the cluster, ready
	 */
	public static RedisClusterServers start(RedisBinary binary) {
		RedisClusterServers cluster = new RedisClusterServers();
		try {
			for (int i = 0; i < MASTERS; i++) {
				cluster.masters.add(startNode(binary));
			}
			cluster.join();
			return cluster;
		}
		catch (RuntimeException | Error ex) {
			cluster.close();
			throw ex;
		}
	}

	private static RedisServer startNode(RedisBinary binary) {
		return RedisServer.start(binary, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
				"--cluster-node-timeout", "2000");
	}

	private void join() {
		for (int i = 0; i < MASTERS; i++) {
			RedisServer master = this.masters.get(i);
			List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
			IntStream.range(SLOTS * i / MASTERS, SLOTS * (i + 1) / MASTERS)
				.mapToObj(Integer::toString)
				.forEach(command::add);
			master.command(command.toArray(String[]::new));
			master.command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
		}
		for (RedisServer other : this.masters.subList(1, MASTERS)) {
			this.masters.get(0).command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(other.port()));
		}
		await().atMost(Duration.ofSeconds(60))
			.pollInterval(Duration.ofMillis(20))
			.until(() -> this.masters.stream().allMatch(RedisClusterServers::isReady));
	}

	private static boolean isReady(RedisServer node) {
		String info = String.valueOf(node.command("CLUSTER", "INFO"));
		return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS)
				&& info.contains("cluster_known_nodes:" + MASTERS + "\r");
	}

	public List<RedisServer> masters() {
		return this.masters;
	}

	/** Where a key belongs. */
	public int slotOf(String key) {
		return Math.toIntExact((Long) Objects.requireNonNull(this.masters.get(0).command("CLUSTER", "KEYSLOT", key)));
	}

	/** Which master had a slot at the start. */
	public int firstOwnerOf(int slot) {
		return IntStream.range(0, MASTERS)
			.filter((master) -> slot < SLOTS * (master + 1) / MASTERS)
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Begins to move a slot, and takes its keys along: from now on the old owner sends
	 * who asks for them to the new one ({@code ASK}).
	 * @param slot the slot
	 * @param from its owner
	 * @param to its next owner
	 */
	public void beginMove(int slot, int from, int to) {
		RedisServer source = this.masters.get(from);
		RedisServer target = this.masters.get(to);
		target.command("CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING", idOf(source));
		source.command("CLUSTER", "SETSLOT", Integer.toString(slot), "MIGRATING", idOf(target));
		List<?> keys = (List<?>) Objects
			.requireNonNull(source.command("CLUSTER", "GETKEYSINSLOT", Integer.toString(slot), "1000"));
		keys.forEach((key) -> source.command("MIGRATE", "127.0.0.1", Integer.toString(target.port()),
				String.valueOf(key), "0", "5000"));
	}

	/**
	 * Ends a move: from now on the old owner knows that it is none ({@code MOVED}).
	 * Returns when all masters agree who owns what. A move that begins earlier may be
	 * undone: the new owner would choose an epoch that is no later than that of a master
	 * it has not heard of yet, and the older of that master's claims would win.
	 * @param slot the slot
	 * @param to its owner
	 */
	public void endMove(int slot, int to) {
		RedisServer target = this.masters.get(to);
		String owner = idOf(target);
		target.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", owner);
		this.masters.stream()
			.filter((master) -> master != target)
			.forEach((master) -> master.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", owner));
		awaitAgreement();
	}

	/**
	 * Waits until all masters have the same epoch and the same slots for each of them.
	 */
	public void awaitAgreement() {
		await("masters that agree").atMost(Duration.ofSeconds(60))
			.pollInterval(Duration.ofMillis(2))
			.until(() -> this.masters.stream().map(RedisClusterServers::claims).distinct().count() == 1);
	}

	/** What a master knows of all masters: identity, epoch, slots. */
	private static List<String> claims(RedisServer master) {
		return String.valueOf(master.command("CLUSTER", "NODES"))
			.lines()
			.map((line) -> line.split(" "))
			.filter((fields) -> fields[2].contains("master"))
			.map((fields) -> Stream.concat(Stream.of(fields[0], fields[6]),
					// a slot that is about to move is in brackets
					Arrays.stream(fields).skip(8).filter((slots) -> !slots.startsWith("[")))
				.collect(Collectors.joining(" ")))
			.sorted()
			.toList();
	}

	private static String idOf(RedisServer node) {
		return String.valueOf(node.command("CLUSTER", "MYID"));
	}

	@Override
	public void close() {
		this.masters.forEach(RedisServer::close);
	}

}
