package io.idempotency.proofs.calling;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import io.idempotency.Idempotent;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Pays once for each intent, if its callers and the guard do what they shall. */
@RestController
class PaymentController {

	/** The receipts of each intent; more than one is one too many. */
	final Map<String, List<String>> receipts = new ConcurrentHashMap<>();

	volatile CountDownLatch running = new CountDownLatch(1);

	volatile CountDownLatch mayEnd = new CountDownLatch(1);

	@PostMapping("/payments")
	@Idempotent
	public String pay(@RequestBody String intent) {
		String receipt = intent + " paid by " + UUID.randomUUID();
		this.receipts.computeIfAbsent(intent, (unknown) -> new CopyOnWriteArrayList<>()).add(receipt);
		return receipt;
	}

	@PostMapping("/slow-payments")
	@Idempotent
	public String paySlowly(@RequestBody String intent) throws InterruptedException {
		this.running.countDown();
		this.mayEnd.await();
		return pay(intent);
	}

}
