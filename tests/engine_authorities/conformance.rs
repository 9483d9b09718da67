//! Cases computed by other people's implementations: the ONNX Attention operator and PyTorch.
